// Measures the built services beside other programs that do the same on the same database: `npm run bench`.
//   --quick   fewer rows, scenarios and rounds, in less than two minutes; the results are printed only
import { writeFile } from 'node:fs/promises';
import { availableParallelism, cpus, release, totalmem, type } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { chart } from './chart.ts';
import { startContestants } from './contestants.ts';
import { durableVersion, prepareDatabases } from './databases.ts';
import { goals, median, outcomeOf } from './goals.ts';
import { wrkVersion } from './load.ts';
import { fullPlan, measure, runBenchmark, type Benchmark, type Plan } from './measure.ts';
import { resultsPage } from './report.ts';
import { scenariosFor } from './scenarios.ts';
import { mainOf, rssMbOf, startServer } from './servers.ts';

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

const { values } = parseArgs({ options: { quick: { type: 'boolean', default: false } } });
const plan = values.quick ? quickPlan : fullPlan;
await runBenchmark(run);

async function run(benchmark: Benchmark) {
  const wrk = await wrkVersion();
  console.error(`Preparing ${plan.rows.items.toLocaleString('en')} items …`);
  const databases = await prepareDatabases(benchmark, plan.rows);
  const surroundings = describeSurroundings(await durableVersion(databases.items), wrk);
  const startMs = await measureStart(databases.items);

  const scenarios = scenariosFor(plan.rows).filter(({ title }) => !values.quick || quickTitles.includes(title));
  const { entries, services } = await startContestants(databases, scenarios, benchmark);
  const samples = await measure(entries, plan, databases.cluster, benchmark);
  const rssMb = await Promise.all(services.map(({ pid }) => rssMbOf(pid)));

  const limits = [
    limited('Start to first response', startMs, START_LIMIT_MS, 'ms'),
    limited('RSS after the benchmark', Math.max(...rssMb), RSS_LIMIT_MB, 'MB'),
  ];
  const outcomes = goals.map((goal) => outcomeOf(goal, samples));
  const page = resultsPage(surroundings, plan, outcomes, limits, samples);
  console.log(page);
  if (values.quick) return;
  const folder = join(import.meta.dirname, '..');
  await writeFile(join(folder, 'RESULTS.md'), page);
  await writeFile(join(folder, 'chart.svg'), chart(samples, surroundings));
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
async function measureStart(databaseUrl: string) {
  const times: number[] = [];
  for (let start = 0; start < STARTS; start += 1) {
    const server = await startServer(mainOf('items'), databaseUrl);
    await server.stop();
    times.push(server.startMs);
  }
  return median(times);
}
