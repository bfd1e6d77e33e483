// Runs clients and faults on the items service and checks the history: npm run test:history -- --seed 7
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { linesOf } from './checks/violation.ts';
import { runSeed, type Report } from './run-seed.ts';
import { startDatabaseServer } from './system/database-server.ts';
import { startService, type Service } from './system/services.ts';

const SERVICES = 2;

const { seeds, seconds } = readArguments();
const database = await startDatabaseServer();
const services: Service[] = [];
const interrupted = Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')]).then(
  () => (process.exitCode = 1),
);

try {
  await Promise.race([runAll(), interrupted]);
} finally {
  await stopServices();
  await database.stop();
}
process.exit();

async function runAll() {
  for (const seed of seeds) {
    await print(seed, await run(seed));
    if (process.exitCode) return;
  }
}

async function run(seed: number) {
  const name = `seed_${seed}`;
  await database.createDatabase(name);
  const starts = Array.from({ length: SERVICES }, async () =>
    services.push(await startService({ DATABASE_URL: database.serviceUrl(name) })),
  );
  await Promise.all(starts);
  try {
    return await runSeed({
      seed,
      seconds,
      urls: services.map((service) => service.url),
      databaseUrl: () => database.databaseUrl(name),
      parts: { database, services },
    });
  } catch (error) {
    throw new Error(`seed ${seed} has not ended`, { cause: error });
  } finally {
    await stopServices();
    await database.dropDatabase(name);
  }
}

async function stopServices() {
  await Promise.all(services.splice(0).map((service) => service.stop()));
}

async function print(seed: number, { violations, history, requests, unknown, faults, longestMs }: Report) {
  for (const violation of violations) console.error(`seed ${seed}: ${linesOf(violation)}`);
  if (violations.length > 0) {
    process.exitCode = 1;
    const file = join(tmpdir(), `history-of-seed-${seed}.json`);
    await writeFile(file, JSON.stringify(history.operations));
    console.error(`seed ${seed}: the whole history is in ${file}`);
  }
  const counts = Object.entries(faults).map(([kind, count]) => `${count} ${kind}`);
  console.log(
    `seed ${seed}: ${requests} requests, ${unknown} unknown, ` +
      `faults: ${counts.join(', ') || 'none'}, longest request ${longestMs.toFixed()} ms`,
  );
}

function readArguments() {
  const { values } = parseArgs({
    options: { seed: { type: 'string' }, seeds: { type: 'string' }, seconds: { type: 'string', default: '6' } },
  });
  const [from, to = from] = (values.seeds ?? values.seed ?? '').split('-').map(Number);
  if (!from || !to || !(Number(values.seconds) > 0)) {
    console.error('Use --seed N or --seeds A-B, and --seconds S for the time of the requests of each seed.');
    process.exit(1);
  }
  return { seeds: Array.from({ length: to - from + 1 }, (_, index) => from + index), seconds: Number(values.seconds) };
}
