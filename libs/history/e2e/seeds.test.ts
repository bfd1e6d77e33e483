// Clients and faults at random: SEEDS=1-50 npx nx e2e history -- seeds
import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from '@jest/globals';
import { runSeed } from '../src/run-seed.ts';
import { causeFaults, MAIN, startDatabase, startService } from '../src/system.ts';

const [first = 1, last = first] = (process.env.SEEDS ?? '1-6').split('-').map(Number);
const seeds = Array.from({ length: last - first + 1 }, (_, n) => first + n);

const database = await startDatabase();
afterAll(() => database.stop());

test.each(seeds)('Clients of seed %i see what the items service promises, whatever fails', async (seed) => {
  const databaseUrl = await database.create(`seed_${seed}`);
  const services = await Promise.all([startService(MAIN, databaseUrl), startService(MAIN, databaseUrl)]);
  const { violations, history } = await runSeed({
    ...{ seed, urls: services.map(({ url }) => url), databaseUrl: () => databaseUrl },
    fault: (random) => causeFaults(random, { database, databaseUrl, services }),
  });
  await Promise.all(services.map(({ kill }) => kill()));
  if (violations.length > 0)
    await writeFile(join(tmpdir(), `history-of-seed-${seed}.json`), JSON.stringify(history.operations));
  expect(violations).toEqual([]);
});
