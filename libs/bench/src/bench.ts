// Measures the built services beside other programs that do the same on the same database: `npm run bench`.
//   --quick         fewer rows, scenarios and rounds, in less than two minutes; the results are printed only
//   --against=DIR   beside the built services of another checkout, in place of the baselines; the results are printed only
import { writeFile } from 'node:fs/promises';
import { availableParallelism, cpus, release, totalmem, type } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { names, rivals, startBaselines, startServices } from './contestants.ts';
import { execute, prepareBaselines, prepareDatabases, startServerOfTables } from './databases.ts';
import { wrkVersion } from './load.ts';
import { fullPlan, measure, runBenchmark, type Benchmark, type Plan } from './measure.ts';
import { comparison, median, resultsPage } from './report.ts';
import { scenariosFor } from './scenarios.ts';
import { checkoutAt, rssMbOf, startServer, type Checkout } from './servers.ts';

const START_LIMIT_MS = 350;
const RSS_LIMIT_MB = 150;

/** Number of times that the service is started to measure its start. */
const STARTS = 5;

/** Less than two minutes, for an impression. */
const quickPlan: Plan = {
  ...fullPlan,
  rows: { items: 100_000, tutorials: 10_000 },
  rounds: 3,
  seconds: 0.4,
  readySeconds: 0.8,
  warmUpSeconds: 0.2,
};
const quickTitles = ['GET one', 'GET first page', 'POST', 'POST with Idempotency-Key'];

const { values } = parseArgs({ options: { quick: { type: 'boolean', default: false }, against: { type: 'string' } } });
const plan = values.quick ? quickPlan : fullPlan;
const scenarios = scenariosFor(plan.rows).filter(({ title }) => !values.quick || quickTitles.includes(title));
const own = checkoutAt('this', join(import.meta.dirname, '../../..'));
await runBenchmark(run);

async function run(benchmark: Benchmark) {
  const wrk = await wrkVersion();
  console.error(`Preparing ${plan.rows.items.toLocaleString('en')} items …`);
  const cluster = await startServerOfTables(benchmark);
  const prepare = async (checkout: Checkout) => {
    const databases = await prepareDatabases(cluster, checkout, plan.rows);
    const startMs = await measureStart(checkout, databases.items);
    return { databases, startMs, services: await startServices(checkout, databases, benchmark) };
  };
  const { databases, startMs, services } = await prepare(own);
  const rssMb = async (each: typeof services) =>
    Math.max(...(await Promise.all(Object.values(each).map(({ pid }) => rssMbOf(pid)))));

  if (values.against) {
    const other = await prepare(checkoutAt('other', values.against));
    await execute(cluster.url, 'checkpoint');
    console.log(comparison(await measure(rivals(scenarios, services, other.services), plan, cluster, benchmark)));
    for (const [name, each] of [[names.service, { startMs, services }] as const, [names.other, other] as const])
      console.log(`${name}: start ${each.startMs.toFixed()} ms, RSS ${(await rssMb(each.services)).toFixed()} MB`);
    return;
  }
  await prepareBaselines(databases.items, plan.rows);
  const entries = await startBaselines(scenarios, services, databases.items, benchmark);
  // Without it, the server would write all tables to disk during the first measurements.
  await execute(cluster.url, 'checkpoint');
  const samples = await measure(entries, plan, cluster, benchmark);
  const limits = [
    limited('Start to first response', startMs, START_LIMIT_MS, 'ms'),
    limited('RSS after the benchmark', await rssMb(services), RSS_LIMIT_MB, 'MB'),
  ];
  const page = resultsPage(describeSurroundings(await durableVersion(cluster.url), wrk), plan, limits, samples);
  console.log(page);
  if (!values.quick) await writeFile(join(import.meta.dirname, '../RESULTS.md'), page);
}

function limited(what: string, measured: number, limit: number, unit: string) {
  const figure = `${measured.toFixed()} ${unit}`;
  return `${what}: ${measured < limit ? figure : `**${figure}**`} (< ${limit} ${unit})`;
}

/** One line that says where, when and with what was measured. */
function describeSurroundings(postgres: string, wrk: string) {
  const processor = `${cpus()[0]?.model ?? 'Unknown processor'}, ${availableParallelism()} cores`;
  // The rest of the release is the packager's.
  const system = `${type()} ${release().split('-')[0]}`;
  return [
    ...[processor, `${Math.round(totalmem() / 2 ** 30)} GB`, system, `Node.js ${process.versions.node}`],
    ...[`PostgreSQL ${postgres}`, wrk, new Date().toISOString().slice(0, 10)],
  ].join(', ');
}

/** The version of the server. @throws Error when it does not write commits to disk */
async function durableVersion(url: string) {
  const settings = ['server_version', 'fsync', 'synchronous_commit'].map(
    (name) => `current_setting('${name}') as ${name}`,
  );
  const [row] = await execute(url, `select ${settings.join(', ')}`);
  if (row!.fsync !== 'on' || row!.synchronous_commit !== 'on') throw new Error('Commits are not written to disk');
  return row!.server_version!;
}

/** Milliseconds from the start of the items service to its first response, on a migrated database. */
async function measureStart(checkout: Checkout, databaseUrl: string) {
  const times: number[] = [];
  for (let start = 0; start < STARTS; start += 1) {
    const server = await startServer(checkout.mainOf('items'), databaseUrl);
    await server.stop();
    times.push(server.startMs);
  }
  return median(times);
}
