// Measures what an open snapshot, such as a backup's, costs: an insert and a first page through the built service before and
// after 100,000 commits of other sessions that the snapshot outlives.
//   npx nx old-snapshot items
import { join } from 'node:path';
import { startForBench } from '@rest-services/testing/bench';
import pg from 'pg';

const rows = 100_000;
const commits = 100_000;
const sessions = 8;
const requests = 1_000;
const maxRatio = 1.5;

const { service, databaseUrl, stop } = await startForBench(join(import.meta.dirname, '..'), {
  NODE_ENV: 'production',
  LOG_LEVEL: 'info',
  SHUTDOWN_DELAY_MS: '0',
});
const connect = async () => {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  return client;
};
const database = await connect();
const backup = await connect();
try {
  const url = await service.listening();
  await database.query(`insert into item (title) select 'An item' from generate_series(1, $1::int)`, [rows]);
  await database.query('vacuum analyze');
  const before = await measure(url);

  await backup.query('begin isolation level repeatable read');
  await backup.query('select count(*) from item');
  console.log(`Committing ${commits.toLocaleString('en')} times …`);
  await Promise.all(Array.from({ length: sessions }, commitMany));
  const after = await measure(url);
  await backup.query('commit');

  const { rows: counted } = await database.query<{ isExact: boolean }>(
    `select (select total from item_count) = (select count(*) from item)
      and (select finished from item_count) = (select count(*) from item where status = 'Finished') as "isExact"`,
  );
  const rounded = (ms: number) => Number(ms.toFixed(3));
  const line = (name: keyof typeof before) => ({
    'before, ms': rounded(before[name]),
    'after, ms': rounded(after[name]),
    ratio: rounded(after[name] / before[name]),
    wanted: `< ${maxRatio}`,
  });
  console.table({ 'POST, median': line('create'), 'GET first page, median': line('firstPage') });
  console.log(`The counts are those of the table: ${counted[0]!.isExact}`);
  const isGood =
    counted[0]!.isExact && after.create < maxRatio * before.create && after.firstPage < maxRatio * before.firstPage;
  process.exitCode = isGood ? 0 : 1;
} finally {
  await database.end();
  await backup.end();
  await stop();
}

async function measure(url: string) {
  const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"title":"An item"}' };
  return { create: await medianMs(`${url}/v1/items`, init), firstPage: await medianMs(`${url}/v1/items`) };
}

async function medianMs(url: string, init?: RequestInit) {
  const times: number[] = [];
  for (let turn = 0; turn < requests; turn += 1) {
    const started = performance.now();
    await (await fetch(url, init)).text();
    times.push(performance.now() - started);
  }
  return times.sort((a, b) => a - b)[requests / 2]!;
}

/** Of ten statements, each a transaction, six insert an item, three change a status, one deletes an item. */
async function commitMany() {
  const client = await connect();
  await client.query('set synchronous_commit = off');
  for (let turn = 0; turn < commits / sessions; turn += 1) {
    const id = 1 + Math.floor(Math.random() * rows);
    if (turn % 10 < 6) await client.query(`insert into item (title) values ('An item')`);
    else if (turn % 10 < 9)
      await client.query(
        `update item set status = case status when 'Doing' then 'Finished' else 'Doing' end where id = $1`,
        [id],
      );
    else await client.query('delete from item where id = $1', [id]);
  }
  await client.end();
}
