import { once } from 'node:events';
import { Agent, get, type IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { sql } from 'kysely';
import { openSocket } from './http.ts';
import { buildApp } from './notes/app.ts';
import { migrations } from './notes/database.ts';
import { openList, openOverHttp10 } from './open-list.ts';
import { serve } from './serve.ts';

const rows = 50_000;

let service: Awaited<ReturnType<typeof startNotes>>;
// One connection: a reader that kept it would block all other requests.
const startNotes = () => serve({ migrations, buildApp }, { DATABASE_POOL_MAX: '1' });

beforeAll(async () => {
  service = await startNotes();
  // In parts that the service's timeout for a statement allows on a busy machine, too.
  for (let inserted = 0; inserted < rows; inserted += 5_000) {
    await sql`insert into note (title) select repeat('x', 150) from generate_series(1, 5000)`.execute(service.db);
  }
});
afterAll(() => service.stop());

const openNotes = (agent?: Agent) => openList(`${service.url}/notes?limit=${rows}`, agent);

/** Requests the whole list, and sends the body of the request after the first chunk of the list. */
async function listOfSender(version: string, head: string, body: string) {
  const socket = openSocket(service.url);
  socket.write(`GET /notes?limit=${rows} HTTP/${version}\r\nhost: a\r\nconnection: close\r\n${head}\r\n\r\n`);
  await once(socket, 'readable');
  await new Promise((sent) => socket.write(body, sent));
  return text(socket);
}

const otherRequest = async () => (await service.request('GET', '/notes/1')).status;

describe('A long list', () => {
  test('is valid JSON with every row', async () => {
    const notes = JSON.parse(await text(await openNotes())) as { id: number }[];
    expect(notes.map(({ id }) => id)).toEqual(Array.from({ length: rows }, (_, index) => index + 1));
  });

  test.each([
    ['1.1', 'transfer-encoding: chunked', '0\r\n\r\n', /\]\r\n0\r\n\r\n$/],
    ['1.1', 'content-length: 5000', 'x'.repeat(5_000), /\]\r\n0\r\n\r\n$/],
    ['1.0', 'content-length: 5000', 'x'.repeat(5_000), /\]$/],
  ])(
    'is complete over HTTP/%s when the client sends a body after it has started (%s)',
    async (version, head, body, end) => {
      expect(await listOfSender(version, head, body)).toMatch(end);
    },
  );

  test('leaves the database connection to others while its reader pauses', async () => {
    const lists = await Promise.all([openNotes(), openNotes(), openNotes()]);
    expect(await otherRequest()).toBe(200);
    for (const list of lists) expect(JSON.parse(await text(list))).toHaveLength(rows);
  });

  test('releases the database connection when its reader leaves', async () => {
    for (let turn = 0; turn < 5; turn += 1) {
      const list = await openNotes();
      await once(list, 'readable');
      list.destroy();
      expect(await otherRequest()).toBe(200);
    }
    // Statements in flight finish. Autovacuum does not count.
    const active = () =>
      sql`select from pg_stat_activity where datname = current_database() and backend_type = 'client backend'
        and state <> 'idle' and pid <> pg_backend_pid()`.execute(service.db);
    while ((await active()).rows.length > 0) expect(await otherRequest()).toBe(200);
  });

  test('is aborted when its reader has paused for one to two minutes', async () => {
    const accepted = once(service.app.server, 'connection');
    const list = await openNotes();
    const [socket] = (await accepted) as [Socket];
    while (!socket.timeout) expect(await otherRequest()).toBe(200);
    expect(socket.timeout).toBe(60_000);
    const closed = once(socket, 'close');
    socket.setTimeout(200);
    await closed;
    await expect(text(list)).rejects.toMatchObject({ code: 'ECONNRESET' });
  });

  test('has a timeout only while there is something to read', async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const accepted = once(service.app.server, 'connection');
    const list = await openNotes(agent);
    const [socket] = (await accepted) as [Socket];
    while (!socket.timeout) expect(await otherRequest()).toBe(200);
    expect(JSON.parse(await text(list))).toHaveLength(rows);
    const limits: unknown[] = [];
    service.app.server.once('request', () => limits.push(socket.timeout));
    const [next] = (await once(get(`${service.url}/notes/1`, { agent }), 'response')) as [IncomingMessage];
    await text(next);
    expect(limits).toEqual([0]);
    await service.db.kysely.transaction().execute(async (locking) => {
      await sql`lock table note`.execute(locking);
      const waiting = once(get(`${service.url}/notes/2`, { agent }), 'response');
      while (!service.app.connections.get(socket)?.current) await fetch(`${service.url}/livez`);
      // As after a pause of the service in the middle of a list.
      socket.setTimeout(60_000);
      while (socket.timeout) await fetch(`${service.url}/livez`);
      return waiting;
    });
    agent.destroy();
  });

  test.each([
    ['plain', ''],
    ['compressed', 'accept-encoding: gzip\r\n'],
  ])('over HTTP/1.0, %s, that breaks off ends by a reset, not like a whole one', async (_, headers) => {
    const { reader, ended } = await openOverHttp10(`${service.url}/notes?limit=${rows}`, headers);
    await sql`alter table note rename to gone`.execute(service.db);
    try {
      reader.resume();
      expect(await ended).toBe('ECONNRESET');
    } finally {
      await sql`alter table gone rename to note`.execute(service.db);
    }
  });

  test('over HTTP/1.0 whose reader pauses for too long ends by a reset', async () => {
    const accepted = once(service.app.server, 'connection');
    const { reader, ended } = await openOverHttp10(`${service.url}/notes?limit=${rows}`);
    const [socket] = (await accepted) as [Socket];
    const closed = once(socket, 'close');
    socket.setTimeout(200);
    await closed;
    reader.resume();
    expect(await ended).toBe('ECONNRESET');
  });
});
