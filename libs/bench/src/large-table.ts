// Compares the items service on 60 million items with itself on one million, in the same rounds: `npm run bench:large`. Exits with 1
// where a goal is missed. PostgreSQL has its default settings, in a folder for temporary files with 10 GB free. Takes 20 minutes.
//   --items=NUMBER   another number than 60 million
import { statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { parseArgs } from 'node:util';
import { startCluster } from '@rest-services/local-postgres';
import { names } from './contestants.ts';
import { prepareItems } from './databases.ts';
import { outcomeOf, type Goal } from './goals.ts';
import { fullPlan, measure, runBenchmark, type Entry } from './measure.ts';
import { figuresTable, outcomesTable } from './report.ts';
import { scenariosFor } from './scenarios.ts';
import { mainOf, startServer } from './servers.ts';

const SMALL = 1_000_000;

/** Disk space of an item with its index, and of the log that PostgreSQL writes while it is loaded. */
const BYTES_PER_ITEM = 160;

const CONNECTIONS = 64;

const { values } = parseArgs({ options: { items: { type: 'string', default: '60000000' } } });
const large = Number(values.items);
const against = `${SMALL.toLocaleString('en')} items`;

const wanted = { 'GET one': 0.75, 'GET deep page': 0.75, 'GET first page': 0.95, POST: 0.95 };
const goals = Object.entries(wanted).map(([scenario, ratio]): Goal => ({
  what: `${scenario}, ${large.toLocaleString('en')} items`,
  ...{ scenarios: [scenario], connections: CONNECTIONS, metric: 'perSecond', wanted: { [against]: ratio } },
}));

await runBenchmark(async (benchmark) => {
  await checkDisk();
  const cluster = await startCluster(benchmark.directory, { durable: true });
  benchmark.stopAtEnd(() => cluster.stop());
  const entries: Entry[] = [];
  for (const [contestant, items] of [[names.service, large] as const, [against, SMALL] as const]) {
    console.error(`Preparing ${items.toLocaleString('en')} items …`);
    const server = await startServer(mainOf('items'), await prepareItems(cluster, items));
    benchmark.stopAtEnd(server.stop);
    for (const { title, request } of scenariosFor({ items, tutorials: 0 }))
      if (title in wanted) entries.push({ scenario: title, contestant, server, request });
  }
  const plan = { ...fullPlan, rounds: 15, connections: [CONNECTIONS] };
  const samples = await measure(entries, plan, cluster, benchmark);
  const outcomes = goals.map((goal) => outcomeOf(goal, samples));
  console.log(`${figuresTable(samples, CONNECTIONS, [names.service, against])}\n\n${outcomesTable(outcomes)}`);
  if (outcomes.some(({ ratios }) => !ratios.every(({ isReached }) => isReached))) process.exitCode = 1;
});

async function checkDisk() {
  const { bavail, bsize } = await statfs(tmpdir());
  const gigabytes = (bytes: number) => `${Math.ceil(bytes / 1e9)} GB`;
  const [free, needed] = [bavail * bsize, (large + SMALL) * BYTES_PER_ITEM];
  console.error(`Takes ${gigabytes(needed)} of ${tmpdir()}, where ${gigabytes(free)} are free.`);
  if (free < needed) throw new Error('Not enough disk. TMPDIR names another folder.');
}
