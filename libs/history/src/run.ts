// Runs clients and faults on the items service and checks the history: npm run test:history -- --seed 7
import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { DatabasePair } from './database-pair.ts';
import { runSeed, SETUP_CLIENT, type Report } from './run-seed.ts';
import { Service } from './services.ts';

const SERVICES = 2;

const { seeds, seconds } = readArguments();
const database = await DatabasePair.start();
let services: Service[] = [];
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => void stop().then(() => process.exit(1)));

try {
  for (const seed of seeds) {
    await print(seed, await run(seed));
    if (process.exitCode) break;
  }
} finally {
  await stop();
}

async function run(seed: number) {
  const name = `seed_${seed}`;
  await database.databaseUrl(name);
  const url = database.servicesUrl(name);
  services = await Promise.all(Array.from({ length: SERVICES }, () => Service.start(url)));
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

async function stop() {
  await stopServices();
  await database.stop();
}

async function stopServices() {
  await Promise.all(services.splice(0).map((service) => service.stop()));
}

async function print(seed: number, { violations, history, unknown, faults, longestMs }: Report) {
  for (const { check, message, lines } of violations) {
    console.error(`seed ${seed}: not "${check}": ${message}\n${lines.map((line) => `  ${line}\n`).join('')}`);
  }
  if (violations.length > 0) {
    process.exitCode = 1;
    const file = join(tmpdir(), `history-of-seed-${seed}.json`);
    await writeFile(file, JSON.stringify(history.operations));
    console.error(`seed ${seed}: the whole history is in ${file}`);
  }
  const counts = Object.entries(faults).map(([kind, count]) => `${count} ${kind}`);
  console.log(
    `seed ${seed}: ${history.operations.filter(({ client }) => client !== SETUP_CLIENT).length} operations, ${unknown} unknown, ` +
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
