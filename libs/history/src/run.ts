// Runs clients and faults on the items service and checks the history: npm run test:history -- --seeds 1-50
import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { linesOf } from './checks/checks.ts';
import { runSeed } from './run-seed.ts';
import { causeFaults, MAIN, startDatabase, startService } from './system.ts';

const SERVICES = 2;

const { values } = parseArgs({ options: { seeds: { type: 'string' }, seconds: { type: 'string', default: '6' } } });
const [from = 1, to = from] = (values.seeds ?? '1').split('-').map(Number);
const seconds = Number(values.seconds);

const database = await startDatabase();
let stopServices = async () => {};
const stop = () => stopServices().then(() => database.stop());
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => void stop().then(() => process.exit(1)));
try {
  for (let seed = from; seed <= to && !process.exitCode; seed += 1) await run(seed);
} finally {
  await stop();
}

async function run(seed: number) {
  const databaseUrl = await database.create(`seed_${seed}`);
  const services = await Promise.all(Array.from({ length: SERVICES }, () => startService(MAIN, databaseUrl)));
  stopServices = async () => void (await Promise.all(services.map(({ kill }) => kill())));
  let faults: Record<string, number> = {};
  const report = await runSeed({
    ...{ seed, seconds, urls: services.map(({ url }) => url), databaseUrl: () => databaseUrl },
    fault: async (random) => (faults = await causeFaults(random, seconds, { database, databaseUrl, services })),
  });
  await stopServices();
  const { violations, history, requests, unknown, longestMs } = report;
  const counts = Object.entries(faults).map(([kind, count]) => `, ${kind} ${count}`);
  console.log(
    `seed ${seed}: ${requests} requests, ${unknown} unknown, longest ${longestMs.toFixed()} ms${counts.join('')}`,
  );
  if (violations.length === 0) return;
  process.exitCode = 1;
  const file = join(tmpdir(), `history-of-seed-${seed}.json`);
  await writeFile(file, JSON.stringify(history.operations));
  console.error([...violations.map(linesOf), `The whole history is in ${file}`].join('\n'));
}
