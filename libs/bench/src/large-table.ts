// Compares the items service on 60 million items with itself on one million, in the same rounds: `npm run bench:large`. Exits with 1
// where a target is missed. PostgreSQL has its default settings, in a folder for temporary files with 10 GB free. Takes 20 minutes.
//   --items=NUMBER   another number than 60 million
import { statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { parseArgs } from 'node:util';
import { startCluster } from '@rest-services/local-postgres';
import { mainOf, names, startServer } from './contestants.ts';
import { prepareItems } from './databases.ts';
import { outcomeOf, type Goal } from './goals.ts';
import { findLoadGenerator } from './load.ts';
import { makeServerReady, measureServer, turnsOf, type Contestant } from './measure.ts';
import { fullPlan } from './plan.ts';
import { cellsTable, outcomesTable } from './report.ts';
import { runBenchmark } from './run-benchmark.ts';
import { scenariosFor } from './scenarios.ts';

const SMALL = 1_000_000;

/** Of an item on the disk, with its index, and the log that PostgreSQL writes while they are loaded. */
const BYTES_PER_ITEM = 160;

const { values } = parseArgs({ options: { items: { type: 'string', default: '60000000' } } });
const large = Number(values.items);
const plan = { ...fullPlan, rounds: 15, connections: [64] };

const wanted = { read: 0.75, 'deep-page': 0.75, 'first-page': 0.95, create: 0.95 };
const against = `The same with ${SMALL.toLocaleString('en')} items`;

await runBenchmark(async ({ directory, stopAtEnd, measure }) => {
  await checkDisk();
  const generator = await findLoadGenerator(directory);
  const cluster = await startCluster(directory, { durable: true });
  stopAtEnd(() => cluster.stop());
  const instruments = { generator, plan, cluster };

  const contestantOf = async (name: string, items: number): Promise<Contestant> => {
    console.error(`Preparing ${items.toLocaleString('en')} items …`);
    const service = await startServer(mainOf('items'), await prepareItems(cluster, items), '/v1/items/1');
    stopAtEnd(service.stop);
    const own = new Map(scenariosFor({ items, tutorials: 0 }).map((scenario) => [scenario.name, scenario]));
    return {
      name,
      takesPart: () => true,
      makeReady: (scenario) => makeServerReady(service, own.get(scenario.name)!, instruments),
      turn: (scenario, connections) => measureServer(service, own.get(scenario.name)!, connections, instruments),
    };
  };
  const contestants = [await contestantOf(names.service, large), await contestantOf(against, SMALL)];
  const scenarios = scenariosFor({ items: large, tutorials: 0 }).filter(({ name }) => name in wanted);
  const titles = new Map(scenarios.map(({ name, title }) => [name, title]));
  const { cells, failures } = await measure(turnsOf(plan, scenarios, contestants));

  const goals = Object.entries(wanted).map(([scenario, ratio]): Goal => ({
    what: `${titles.get(scenario)}, ${large.toLocaleString('en')} items, 64 connections`,
    ...{ scenarios: [scenario], connections: 64, against, metric: 'requests', wanted: ratio },
  }));
  const outcomes = goals.flatMap((goal) => outcomeOf(goal, cells, titles));
  for (const { name, title } of scenarios)
    console.log(`${title}\n${cellsTable(cells.filter(({ scenario }) => scenario === name))}\n`);
  console.log(outcomesTable(outcomes));
  for (const [place, reason] of failures) console.error(`${place}: ${reason}`);
  if (outcomes.length < goals.length || outcomes.some(({ isReached }) => !isReached)) process.exitCode = 1;
});

async function checkDisk() {
  const { bavail, bsize } = await statfs(tmpdir());
  const gigabytes = (bytes: number) => `${Math.ceil(bytes / 1e9)} GB`;
  const [free, needed] = [bavail * bsize, (large + SMALL) * BYTES_PER_ITEM];
  console.error(`Takes ${gigabytes(needed)} of ${tmpdir()}, where ${gigabytes(free)} are free.`);
  if (free < needed) throw new Error('Not enough disk. TMPDIR names another folder.');
}
