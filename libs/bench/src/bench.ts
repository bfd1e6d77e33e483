// Measures the built services beside other programs that do the same on the same database: `npm run bench`.
//   --quick         fewer rows, scenarios and rounds, in less than two minutes; the results are printed only
//   --against=DIR   beside the built services of another checkout, in place of the baselines; the results are printed only
import { mkdtempDisposable, writeFile } from 'node:fs/promises';
import { availableParallelism, cpus, release, tmpdir, totalmem, type } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { execute, prepareBaselines, prepareDatabases, startServerOfTables, type ByService } from './databases.ts';
import { wrkVersion } from './load.ts';
import { measure, type Plan, type Servers } from './measure.ts';
import { comparison, median, resultsPage } from './report.ts';
import { scenariosFor } from './scenarios.ts';
import { rssMbOf, startServer } from './servers.ts';

const START_LIMIT_MS = 350;
const RSS_LIMIT_MB = 150;

/** Number of times that the service is started to measure its start. */
const STARTS = 5;

const rows = { items: 1_000_000, tutorials: 100_000 };
/** For the published results. */
const fullPlan: Plan = { rows, rounds: 5, seconds: 1.2, readySeconds: 4, warmUpSeconds: 0.4 };
const quickRows = { items: 100_000, tutorials: 10_000 };
const quickPlan: Plan = { rows: quickRows, rounds: 3, seconds: 0.4, readySeconds: 0.8, warmUpSeconds: 0.2 };
const quickTitles = ['GET one', 'GET first page', 'POST', 'POST with Idempotency-Key'];

const { values } = parseArgs({ options: { quick: { type: 'boolean', default: false }, against: { type: 'string' } } });
const plan = values.quick ? quickPlan : fullPlan;
const scenarios = scenariosFor(plan.rows).filter(({ title }) => !values.quick || quickTitles.includes(title));

const interruption = new AbortController();
const { signal } = interruption;
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(name, () => interruption.abort());
try {
  await using stack = new AsyncDisposableStack();
  await run(stack);
} catch (error) {
  console.error(signal.aborted ? 'Interrupted.' : error);
  process.exitCode = 1;
}

async function run(stack: AsyncDisposableStack) {
  const wrk = wrkVersion();
  console.error(`Preparing ${plan.rows.items.toLocaleString('en')} items …`);
  const directory = stack.use(await mkdtempDisposable(join(tmpdir(), 'bench-'))).path;
  const cluster = await startServerOfTables(stack, directory);
  const { databases, startMs, services } = await prepare('this', join(import.meta.dirname, '../../..'));

  if (values.against) {
    const other = await prepare('other', values.against);
    const pairs = scenarios.map((each) => ({ ...each, rivals: ['Other checkout' as const] }));
    console.log(await comparison(await resultsOf(pairs, { 'Other checkout': other.services })));
    for (const [name, each] of Object.entries({ 'This service': { startMs, services }, 'Other checkout': other }))
      console.log(`${name}: start ${each.startMs.toFixed()} ms, RSS ${(await rssMb(each.services)).toFixed()} MB`);
    return;
  }
  await prepareBaselines(databases.items, plan.rows);
  const startBaseline = async (name: string) => {
    const program = join(import.meta.dirname, 'baselines', `${name}.ts`);
    const server = await startServer(stack, program, databases.items);
    return { items: server, tutorials: server };
  };
  const results = await resultsOf(scenarios, {
    POST: services,
    Express: await startBaseline('express-sequelize'),
    Fastify: await startBaseline('fastify-kysely'),
    Constant: await startBaseline('constant'),
  });
  const limits = [
    limited('Start to first response', startMs, START_LIMIT_MS, 'ms'),
    limited('RSS after the benchmark', await rssMb(services), RSS_LIMIT_MB, 'MB'),
  ];
  const [version] = await execute(cluster.url, 'show server_version');
  const surroundings = describeSurroundings(version!.server_version!, wrk);
  const page = await resultsPage(surroundings, plan, limits, results);
  console.log(page);
  if (!values.quick) await writeFile(join(import.meta.dirname, '../RESULTS.md'), page);

  /** Starts the built services of a checkout on databases of their own. */
  async function prepare(name: string, folder: string) {
    const mainOf = (service: string) => resolve(folder, 'apps', service, 'dist/main.js');
    const mains: ByService = { items: mainOf('items'), tutorials: mainOf('tutorials') };
    const databases = await prepareDatabases(cluster.url, name, mains, plan.rows);
    const startMs = await measureStart(mains.items, databases.items);
    const services = {
      items: await startServer(stack, mains.items, databases.items),
      tutorials: await startServer(stack, mains.tutorials, databases.tutorials, '/api/tutorials/1'),
    };
    return { databases, startMs, services };
  }

  async function resultsOf(measured: typeof scenarios, rivals: Parameters<typeof measure>[1]) {
    // Without it, the server would write all tables to disk during the first measurements.
    await execute(cluster.url, 'checkpoint');
    return measure(measured, { 'This service': services, ...rivals }, plan, cluster, directory, signal);
  }
}

async function rssMb({ items, tutorials }: Servers) {
  return Math.max(await rssMbOf(items.pid), await rssMbOf(tutorials.pid));
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

/** Milliseconds from the start of the items service to its first response, on a migrated database. */
async function measureStart(main: string, databaseUrl: string) {
  const times: number[] = [];
  for (let start = 0; start < STARTS; start += 1) {
    await using stack = new AsyncDisposableStack();
    times.push((await startServer(stack, main, databaseUrl)).startMs);
  }
  return median(times);
}
