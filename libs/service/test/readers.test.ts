import { once } from 'node:events';
import { get } from 'node:http';
import type { Socket } from 'node:net';
import { json, text } from 'node:stream/consumers';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { sql } from 'kysely';
import { buildApp } from './notes/app.ts';
import { migrations } from './notes/database.ts';
import { openList, openOverHttp10 } from './open-list.ts';
import { serve } from './serve.ts';

const ROWS = 50_000;

let service: Awaited<ReturnType<typeof start>>;
// One connection: a reader that kept it would block all other requests.
const start = () => serve({ migrations, buildApp }, { DATABASE_POOL_MAX: '1' });
const insertNotes = ({ db }: typeof service) =>
  sql`insert into note (title) select repeat('x', 150) from generate_series(1, 5000)`.execute(db);

beforeAll(async () => {
  service = await start();
  // In parts that the service's timeout for a statement allows on a busy machine, too.
  for (let inserted = 0; inserted < ROWS; inserted += 5_000) await insertNotes(service);
});

const list = () => `${service.url}/notes?limit=${ROWS}`;
const otherRequest = async () => (await service.request('GET', '/notes/1')).status;

/** @returns the socket of the next connection on the side of the service */
const accepted = async () => ((await once(service.app.server, 'connection')) as [Socket])[0];

/** Ends the time that a reader has, which is a minute. */
async function endTime(socket: Socket) {
  expect(socket.timeout).toBe(60_000);
  const closed = once(socket, 'close');
  socket.setTimeout(200);
  await closed;
}

describe('A long list', () => {
  test('is valid JSON with every row', async () => {
    const notes = (await json(await openList(list()))) as { id: number }[];
    expect(notes.map(({ id }) => id)).toEqual(Array.from({ length: ROWS }, (_, index) => index + 1));
  });

  test('leaves the database connection to others while its reader pauses', async () => {
    const lists = await Promise.all([openList(list()), openList(list()), openList(list())]);
    expect(await otherRequest()).toBe(200);
    for (const each of lists) expect(await json(each)).toHaveLength(ROWS);
  });

  test('releases the database connection when its reader leaves', async () => {
    for (let turn = 0; turn < 5; turn += 1) {
      const left = await openList(list());
      await once(left, 'readable');
      left.destroy();
      expect(await otherRequest()).toBe(200);
    }
    // Statements in flight finish. Autovacuum does not count.
    const active = () =>
      sql`select from pg_stat_activity where datname = current_database() and backend_type = 'client backend'
        and state <> 'idle' and pid <> pg_backend_pid()`.execute(service.db);
    while ((await active()).rows.length > 0) expect(await otherRequest()).toBe(200);
  });

  test('is aborted when its reader has paused for a minute', async () => {
    const [socket, paused] = await Promise.all([accepted(), openList(list())]);
    await endTime(socket);
    await expect(text(paused)).rejects.toMatchObject({ code: 'ECONNRESET' });
  });

  test('over HTTP/1.0 whose reader has paused for a minute ends by a reset, not like a whole one', async () => {
    const [socket, { reader, ended }] = await Promise.all([accepted(), openOverHttp10(list())]);
    await endTime(socket);
    reader.resume();
    expect(await ended).toBe('ECONNRESET');
  });

  test.each([
    ['plain', ''],
    ['compressed', 'accept-encoding: gzip\r\n'],
  ])('over HTTP/1.0, %s, that breaks off ends by a reset, not like a whole one', async (_, headers) => {
    const { reader, ended } = await openOverHttp10(list(), headers);
    await sql`alter table note rename to gone`.execute(service.db);
    try {
      reader.resume();
      expect(await ended).toBe('ECONNRESET');
    } finally {
      await sql`alter table gone rename to note`.execute(service.db);
    }
  });
});

test('requests have 5 s for their headers and 10 s for their body, connections a limit', () => {
  const { headersTimeout, requestTimeout, maxConnections } = service.app.server;
  expect({ headersTimeout, requestTimeout, maxConnections }).toEqual({
    headersTimeout: 5_000,
    requestTimeout: 10_000,
    maxConnections: 2_000,
  });
});

test('a connection beyond the maximum is dropped, and counted', async () => {
  const { server, connections } = service.app;
  const { maxConnections } = server;
  server.maxConnections = connections.size;
  const dropped = get(`${service.url}/livez`, { agent: false });
  await expect(once(dropped, 'response')).rejects.toMatchObject({ code: 'ECONNRESET' });
  server.maxConnections = maxConnections;
  expect(await (await fetch(`${service.url}/metrics`)).text()).toMatch(/^http_connections_dropped_total 1$/m);
});

test('app.close() ends a list whose reader pauses 7.5 s after the signal', async () => {
  const closing = await serve({ migrations, buildApp }, { SHUTDOWN_DELAY_MS: '5000' });
  for (let inserted = 0; inserted < ROWS; inserted += 5_000) await insertNotes(closing);
  const paused = await openList(`${closing.url}/notes?limit=${ROWS}`);
  const startedAt = performance.now();
  // The signal was 5 s ago.
  await closing.app.close();
  expect(performance.now() - startedAt).toBeGreaterThan(2_000);
  expect(performance.now() - startedAt).toBeLessThan(20_000);
  await expect(text(paused)).rejects.toMatchObject({ code: 'ECONNRESET' });
});
