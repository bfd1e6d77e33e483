import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createTestDatabase } from '@rest-services/local-postgres';
import { startProcess } from '@rest-services/testing';
import pg from 'pg';
import type { CheckName, Violation } from '../src/checks/violation.ts';
import { runSeed } from '../src/run-seed.ts';

const DIST = join(import.meta.dirname, '../../../apps/items/dist');
const SEEDS = 10;

/** Minimum number of requests of each client. */
const REQUESTS = 80;

/** An error: a text of the bundle, or of a function of the database, in place of another one. */
interface Plant {
  /** A function of the database; the bundle without it. */
  in?: 'item_count_fold' | 'item_id_at';
  text: string | RegExp;
  by: string;
}

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'planted-'));
});
afterAll(() => rm(folder, { recursive: true }));

function plantIn(source: string, { text, by }: Plant) {
  const planted = source.replaceAll(text, by);
  if (planted === source) throw new Error(`Nothing matches ${String(text)}`);
  return planted;
}

/** @returns the path of a bundle with the error */
async function plantInBundle(plant: Plant) {
  const copy = await mkdtemp(join(folder, 'dist-'));
  await cp(DIST, copy, { recursive: true });
  const main = join(copy, 'main.js');
  await writeFile(main, plantIn(await readFile(main, 'utf8'), plant));
  return main;
}

async function plantInFunction(name: string, plant: Plant, databaseUrl: string) {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const { rows } = await client.query<{ source: string }>('select pg_get_functiondef($1::regproc) as source', [name]);
    await client.query(plantIn(rows[0]!.source, plant));
  } finally {
    await client.end();
  }
}

/** Runs a seed on a new service. */
async function run(seed: number, main = join(DIST, 'main.js'), plant?: Plant) {
  const database = await createTestDatabase();
  const service = startProcess(main, { DATABASE_URL: database.url });
  try {
    const urls = [await service.listening()];
    if (plant?.in) await plantInFunction(plant.in, plant, database.url);
    return await runSeed({ seed, seconds: 0, minKnown: REQUESTS, urls, databaseUrl: () => database.url });
  } finally {
    service.child.kill('SIGKILL');
    await service.ended;
    await database.drop();
  }
}

/** @returns the violation of a check that the first of ten seeds finds */
async function find(check: CheckName, plant: Plant): Promise<Violation | undefined> {
  const main = plant.in ? undefined : await plantInBundle(plant);
  for (let seed = 1; seed <= SEEDS; seed += 1) {
    const { violations } = await run(seed, main, plant);
    const violation = violations.find((each) => each.check === check);
    if (violation) return violation;
  }
  return undefined;
}

describe('A service without errors', () => {
  test('has no violations', async () => {
    expect(await run(1)).toMatchObject({ violations: [], unknown: 0 });
    expect(await run(2)).toMatchObject({ violations: [], unknown: 0 });
  });
});

describe('The checker finds within ten seeds', () => {
  test('an If-Match that ignores a write since the row was read', async () => {
    const plant = { text: / and (\S*xmin) = (\$\{[^}]*\})/g, by: ' and $1 in ($1, $2)' };
    expect(await find('items are linearizable', plant)).toBeDefined();
  });

  test('a fold of the row counts that does not wait for open transactions', async () => {
    const violation = await find('totals equal rows', {
      in: 'item_count_fold',
      text: /case when is_settled then .* end,/g,
      by: 'last,',
    });
    expect(violation).toBeDefined();
  });

  test('a key that is forgotten', async () => {
    const violation = await find('a key makes one item', {
      text: "interval '24 hours'",
      by: "interval '20 milliseconds'",
    });
    expect(violation!.lines.length).toBeGreaterThan(1);
  });

  test('a page that skips a row', async () => {
    const violation = await find('walks neither skip nor repeat', {
      in: 'item_id_at',
      text: 'offset step.missing',
      by: 'offset step.missing + (random() < 0.1)::integer',
    });
    expect(violation!.message).toMatch(/ [02] times$/);
  });

  test('a batch that mixes up two results', async () => {
    const violation = await find('responses belong to their requests', {
      text: 'order by given.ordinality',
      by: 'order by given.ordinality / 2, given.ordinality desc',
    });
    expect(violation!.message).toMatch(/ shows a title that was not sent for it$/);
  });

  test('a write that is acknowledged though another one had locked its row', async () => {
    const violation = await find('items are linearizable', { text: '!row.is_changed', by: 'false' });
    expect(violation!.lines.join('\n')).toMatch(/ (PUT|DELETE) .* 200 /);
  });

  test('a read of an older state', async () => {
    const violation = await find('items are linearizable', {
      text: 'items.findById(params.id)',
      by: `(id => (items.cache ??= new Map()).get(id) ??
        (setTimeout(() => items.cache.delete(id), 20), items.cache.set(id, items.findById(id)).get(id)))(params.id)`,
    });
    expect(violation!.lines.join('\n')).toContain('GET');
  });
});
