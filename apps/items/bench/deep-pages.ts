// Compares page one million of ten million items with page one through the built service, checks the totals, and
// creates items over 64 connections with and without the triggers that keep the counts.
//   npx nx deep-pages items
import { once } from 'node:events';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '@rest-services/local-postgres';
import { startForBench } from '@rest-services/testing/bench';
import pg from 'pg';

const rows = 10_000_000;
const deepPage = rows / 10;
const requests = 500;
const connections = 64;
const rounds = 10;
const roundMs = 2_000;
const limits = { deepPageRatio: 3, insertRatio: 0.9 };

const port = await freePort();
const { service, databaseUrl, stop } = await startForBench(join(import.meta.dirname, '..'), {
  NODE_ENV: 'production',
  // A line for each request would be this program's work too.
  LOG_LEVEL: 'warn',
  PORT: `${port}`,
  SHUTDOWN_DELAY_MS: '0',
});
const database = new pg.Client({ connectionString: databaseUrl });
try {
  const url = `http://127.0.0.1:${port}`;
  await ready(url);
  await database.connect();
  console.log(`Inserting ${rows.toLocaleString('en')} items …`);
  // One of 101 is deleted again, so that positions and ids differ everywhere.
  for (let piece = 0; piece < 10; piece += 1) {
    await database.query(
      `insert into item (title, status)
       select 'An item with number ' || n, case when n % 3 = 0 then 'Finished' else 'Doing' end
       from generate_series(1, $1::int) n`,
      [(rows / 10 / 100) * 101],
    );
  }
  await database.query('delete from item where id % 101 = 0');
  await database.query('vacuum analyze');

  const first = await medianMs(`${url}/v1/items`);
  const deep = await medianMs(`${url}/v1/items?page=${deepPage}`);
  const pages = [1, 2, 333_333, deepPage / 2, deepPage - 1, deepPage, deepPage + 1];
  const isExact = await comparePages(url, pages);

  await createItems(url);
  const { last, total } = await lastPage(url);
  const written = await medianMs(`${url}/v1/items?page=${last}`);
  const isExactThen = await comparePages(url, [last - 1, last, last + 1]);
  const rates = { with: [] as number[], without: [] as number[] };
  for (let round = 0; round < rounds; round += 1) {
    // Who begins changes: the machine may be slower in a moment than it is now.
    for (const triggers of round % 2 === 0 ? (['with', 'without'] as const) : (['without', 'with'] as const)) {
      await database.query(`alter table item ${triggers === 'with' ? 'enable' : 'disable'} trigger user`);
      rates[triggers].push(await createItems(url));
    }
  }
  const insertRatio = median(rates.with.map((rate, round) => rate / rates.without[round]!));

  const rounded = (ms: number) => Number(ms.toFixed(2));
  console.table({
    'page 1, median ms': { measured: rounded(first), wanted: '' },
    'page 1,000,000, median ms': {
      measured: rounded(deep),
      wanted: `< ${rounded(limits.deepPageRatio * first)}`,
    },
    'pages and totals are those of the table': { measured: isExact, wanted: true },
    [`items created per second over ${connections} connections`]: {
      measured: Math.round(median(rates.with)),
      wanted: '',
    },
    'ratio to the same without triggers': { measured: rounded(insertRatio), wanted: `> ${limits.insertRatio}` },
    [`last page of the then ${total.toLocaleString('en')} items, median ms`]: {
      measured: rounded(written),
      wanted: `< ${rounded(limits.deepPageRatio * first)}`,
    },
    'pages and totals are those of the table then': { measured: isExactThen, wanted: true },
  });
  const isGood =
    isExact &&
    isExactThen &&
    Math.max(deep, written) < limits.deepPageRatio * first &&
    insertRatio > limits.insertRatio;
  process.exitCode = isGood ? 0 : 1;
} finally {
  await database.end();
  await stop();
}

async function ready(url: string) {
  const isReady = async () => (await fetch(`${url}/readyz`).catch(() => undefined))?.ok;
  while (!(await isReady())) {
    const hasEnded = service.child.exitCode !== null || service.child.signalCode !== null;
    if (hasEnded) throw new Error('The service has ended');
    await sleep(20);
  }
}

async function medianMs(url: string) {
  const times: number[] = [];
  for (let turn = 0; turn < requests; turn += 1) {
    const started = performance.now();
    await (await fetch(url)).text();
    times.push(performance.now() - started);
  }
  return median(times);
}

function median(values: number[]) {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!;
}

async function lastPage(url: string) {
  const { headers } = await fetch(`${url}/v1/items`);
  const total = Number(headers.get('x-total-count'));
  return { total, last: Math.ceil(total / 10) };
}

/** Whether the service answers these pages, and both totals, as the table has them. */
async function comparePages(url: string, pages: number[]) {
  const { rows: counted } = await database.query<{ total: string; finished: string }>(
    `select count(*) as total, count(*) filter (where status = 'Finished') as finished from item`,
  );
  const { total, finished } = counted[0]!;
  const summary = (await (await fetch(`${url}/v1/items/summary`)).json()) as { total: number; finished: number };
  let isEqual = summary.total === Number(total) && summary.finished === Number(finished);
  for (const page of pages) {
    const { rows: wanted } = await database.query<{ ids: string }>(
      `select coalesce(string_agg(id::text, ' '), '') as ids
       from (select id from item order by id offset $1 limit 10) as page`,
      [(page - 1) * 10],
    );
    const response = await fetch(`${url}/v1/items?page=${page}`);
    const ids = ((await response.json()) as { id: number }[]).map(({ id }) => id).join(' ');
    isEqual &&= ids === wanted[0]!.ids && response.headers.get('x-total-count') === total;
  }
  return isEqual;
}

/** Creates items over keep-alive connections, one at a time on each, and returns the number per second. */
async function createItems(url: string) {
  const { hostname, port } = new URL(url);
  const body = JSON.stringify({ title: 'An item of many' });
  const request = `POST /v1/items HTTP/1.1\r\nHost: ${hostname}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
  const deadline = performance.now() + roundMs;
  let created = 0;
  await Promise.all(
    Array.from({ length: connections }, async () => {
      const socket = connect(Number(port), hostname);
      socket.setNoDelay().setEncoding('utf8');
      await once(socket, 'connect');
      // An answer is so small that it comes in one piece.
      socket.on('data', (answer: string) => {
        if (!answer.startsWith('HTTP/1.1 201')) throw new Error(answer);
        created += 1;
        if (performance.now() < deadline) socket.write(request);
        else socket.end();
      });
      socket.write(request);
      await once(socket, 'close');
    }),
  );
  return created / (roundMs / 1_000);
}
