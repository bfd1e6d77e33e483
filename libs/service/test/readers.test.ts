import { once } from 'node:events';
import { get } from 'node:http';
import type { Socket } from 'node:net';
import { json, text } from 'node:stream/consumers';
import { describe, expect, test } from '@jest/globals';
import { sql } from 'kysely';
import { buildApp } from './notes/app.ts';
import { migrations } from './notes/database.ts';
import { openList, openOverHttp10 } from './open-list.ts';
import { serve } from './serve.ts';

const ROWS = 50_000;

/** One connection: a reader that kept it would block all other requests. */
async function start(environment: NodeJS.ProcessEnv = {}) {
  const started = await serve({ migrations, buildApp }, { DATABASE_POOL_MAX: '1', ...environment });
  // In parts that the service's timeout for a statement allows on a busy machine, too.
  for (let inserted = 0; inserted < ROWS; inserted += 5_000)
    await sql`insert into note (title) select repeat('x', 150) from generate_series(1, 5000)`.execute(started.db);
  return { ...started, list: `${started.url}/notes?limit=${ROWS}` };
}

const service = await start();
const { list } = service;

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
  test('has every row, and leaves the database connection to others while its reader pauses', async () => {
    const lists = await Promise.all([openList(list), openList(list), openList(list)]);
    expect(await otherRequest()).toBe(200);
    const ids = Array.from({ length: ROWS }, (_, index) => index + 1);
    for (const each of lists) expect(((await json(each)) as { id: number }[]).map(({ id }) => id)).toEqual(ids);
  });

  const codings = ['identity', 'gzip'];
  test.each(codings)('in %s releases memory and the database connection when its reader leaves', async (coding) => {
    for (let turn = 0; turn < 5; turn += 1) {
      const left = await openList(list, coding);
      await once(left, 'readable');
      left.destroy();
      expect(await otherRequest()).toBe(200);
    }
    while (service.app.bodyMemory.bytes > 0) expect(await otherRequest()).toBe(200);
    // Statements in flight finish. Autovacuum does not count.
    const active = () =>
      sql`select from pg_stat_activity where datname = current_database() and backend_type = 'client backend'
        and state <> 'idle' and pid <> pg_backend_pid()`.execute(service.db);
    while ((await active()).rows.length > 0) expect(await otherRequest()).toBe(200);
  });

  test('ends by a reset when its reader has paused for a minute, over HTTP/1.0 too', async () => {
    const [socket, paused] = await Promise.all([accepted(), openList(list)]);
    await endTime(socket);
    await expect(text(paused)).rejects.toMatchObject({ code: 'ECONNRESET' });

    const [old, { reader, ended }] = await Promise.all([accepted(), openOverHttp10(list)]);
    await endTime(old);
    reader.resume();
    expect(await ended).toBe('ECONNRESET');
  });

  test.each(codings)('in %s that breaks off ends by a reset, unlike a whole one, over HTTP/1.0 too', async (coding) => {
    const broken = await openList(list, coding);
    const { reader, ended } = await openOverHttp10(list, coding);
    await sql`alter table note rename to gone`.execute(service.db);
    try {
      await expect(text(broken)).rejects.toMatchObject({ code: 'ECONNRESET' });
      reader.resume();
      expect(await ended).toBe('ECONNRESET');
    } finally {
      await sql`alter table gone rename to note`.execute(service.db);
    }
  });
});

test('requests have 5 s for their headers and 10 s for their body, connections a limit', () => {
  const limits = { headersTimeout: 5_000, requestTimeout: 10_000, maxConnections: 2_000 };
  expect(service.app.server).toMatchObject(limits);
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
  const closing = await start({ SHUTDOWN_DELAY_MS: '5000' });
  const paused = await openList(closing.list);
  const startedAt = performance.now();
  // The signal was 5 s ago.
  await closing.app.close();
  expect(performance.now() - startedAt).toBeGreaterThan(2_000);
  expect(performance.now() - startedAt).toBeLessThan(20_000);
  await expect(text(paused)).rejects.toMatchObject({ code: 'ECONNRESET' });
});
