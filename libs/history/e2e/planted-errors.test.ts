import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from '@jest/globals';
import { createTestDatabase, withClient } from '@rest-services/local-postgres';
import { runSeed } from '../src/run-seed.ts';
import { MAIN, startService } from '../src/system.ts';

const SEEDS = 10;

/** An error: a text of the bundle, or of a function of the database, in place of another one, or a change of the database. */
type Plant = { text: string | RegExp; by: string; in?: string } | { sql: string };

function replace(source: string, text: string | RegExp, by: string) {
  const planted = source.replaceAll(text, by);
  if (planted === source) throw new Error(`Nothing matches ${String(text)}`);
  return planted;
}

const plantInDatabase = (url: string, plant: Plant) =>
  withClient(url, async (client) => {
    if ('sql' in plant) return client.query(plant.sql);
    const definition = 'select pg_get_functiondef($1::regproc) as source';
    const { rows } = await client.query<{ source: string }>(definition, [plant.in]);
    return client.query(replace(rows[0]!.source, plant.text, plant.by));
  });

/** Runs a seed on two processes of the items service with an error, on a database of their own. */
async function run(seed: number, plant: Plant) {
  const folder = await mkdtemp(join(tmpdir(), 'planted-'));
  await cp(dirname(MAIN), folder, { recursive: true });
  const main = join(folder, 'main.js');
  const isInBundle = 'text' in plant && !plant.in;
  if (isInBundle) await writeFile(main, replace(await readFile(main, 'utf8'), plant.text, plant.by));
  const database = await createTestDatabase();
  const services = await Promise.all([startService(main, database.url), startService(main, database.url)]);
  try {
    if (!isInBundle) await plantInDatabase(database.url, plant);
    const urls = services.map(({ url }) => url);
    return await runSeed({ seed, urls, databaseUrl: () => database.url });
  } finally {
    await Promise.all(services.map(({ kill }) => kill()));
    await database.drop();
    await rm(folder, { recursive: true });
  }
}

const ITEMS = 'items are linearizable';
const KEYS = 'a key makes one item';
const TOTALS = 'totals and pages equal rows';

test.each<[string, check: string, Plant]>([
  ['an If-Match that ignores a write', ITEMS, { text: /([\w.]*xmin) = (\$\{[^}]*\})/g, by: '$1 in ($1, $2)' }],
  [
    'a batch that mixes up results',
    ITEMS,
    { text: 'order by ordinality', by: 'order by ordinality / 2, ordinality desc' },
  ],
  ['an acknowledged write of a row that another one had locked', ITEMS, { text: 'row.is_changed', by: 'true' }],
  ['a 503 that has done it', ITEMS, { text: 'code(201)', by: 'code(Math.random() < 0.05 ? 503 : 201)' }],
  [
    'a delete that is not made',
    ITEMS,
    {
      sql: `create function keep() returns trigger language plpgsql as $$ begin
          insert into item overriding system value values (old.*);
          return null;
        end $$;
        create trigger keep after delete on item for each row execute function keep()`,
    },
  ],
  [
    'a read of an older state',
    ITEMS,
    {
      text: /findById\(id\)\s*\{/g,
      by: `findById(id) {
        const known = (this.known ??= new Map()).get(id) ?? this.find(id);
        this.known.set(id, known);
        setTimeout(() => this.known.delete(id), 20);
        return known;
      }
      find(id) {`,
    },
  ],
  ['a key that is forgotten', KEYS, { text: "interval '24 hours'", by: "interval '20 milliseconds'" }],
  [
    'a key that makes two rows when its requests come at once',
    KEYS,
    { sql: 'alter table idempotency_key drop constraint idempotency_key_pkey; create index on idempotency_key (key)' },
  ],
  [
    'a key of whose two rows the responses show one',
    KEYS,
    {
      sql: `create function make_another() returns trigger language plpgsql as $$ begin
          if random() < 0.15 then insert into item (title) select title from item where id = new.row_id; end if;
          return null;
        end $$;
        create trigger make_another after insert on idempotency_key for each row execute function make_another()`,
    },
  ],
  [
    'a fold of the row counts that does not wait for open transactions',
    TOTALS,
    { in: 'item_count_fold', text: /case when is_settled then .* end,/g, by: 'last,' },
  ],
  [
    'a page that skips a row',
    TOTALS,
    { in: 'item_id_at', text: 'offset step.missing', by: 'offset step.missing + (random() < 0.1)::integer' },
  ],
])('The checker finds %s within ten seeds', async (_, check, plant) => {
  for (let seed = 1; seed <= SEEDS; seed += 1)
    if ((await run(seed, plant)).violations.some((violation) => violation.check === check)) return;
  throw new Error(`No seed finds that ${check} is not so`);
});
