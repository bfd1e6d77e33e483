import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { once } from 'node:events';
import { setImmediate as endOfTurn } from 'node:timers/promises';
import { afterEach, describe, expect, test } from '@jest/globals';
import { OverloadedError } from '@rest-services/errors';
import { sql } from 'kysely';
import type { Database } from '../src/index.ts';
import { database, open } from '../test/open-database.ts';

/** Connects, which may take longer than a request waits on a busy machine. */
async function connected(db: Database<unknown>): Promise<void> {
  await sql`select 1`.execute(db).catch(() => connected(db));
}

/** Closes the proxy of a test. */
let closeProxy = () => {};
afterEach(() => closeProxy());

describe('Database', () => {
  test('reads a response to its end that the event loop was too busy to read in time', async () => {
    const db = open();
    const readLate = async (): Promise<string> => {
      await sql`set statement_timeout = 0`.execute(db);
      // More than the buffers of a socket hold.
      const answer = sql<{ text: string }>`select repeat('x', 8000000) as text`.execute(db);
      await endOfTurn();
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1_600);
      // On a busy machine, the rest may take too long as well.
      return answer.then(({ rows }) => rows[0]!.text, readLate);
    };
    expect(await readLate()).toHaveLength(8_000_000);
  });

  test('responds 503 when no connection becomes free within 1 s, though other requests are served', async () => {
    const db = open();
    const sleepers = Array.from({ length: 8 }, () => sql`select pg_sleep(0.3)`.execute(db));
    const outcomes = await Promise.allSettled(sleepers);
    const refused = outcomes.filter(({ status }) => status === 'rejected');
    expect(refused.length).toBeGreaterThan(0);
    for (const outcome of refused) expect(outcome).toMatchObject({ reason: expect.any(OverloadedError) });
  });

  test('responds 503 when a new connection takes too long while other requests are served', async () => {
    const { proxy, url } = await silenceableProxy();
    const db = open({ url, poolMax: 2 });
    await sql`select 1`.execute(db);
    proxy.holdNew();
    const answered = sql`select pg_sleep(0.3)`.execute(db);
    await new Promise(setImmediate);
    await expect(sql`select 1`.execute(db)).rejects.toThrow(OverloadedError);
    await answered;
  });

  test('gives up a whole transaction in the time of one statement', async () => {
    const { proxy, url } = await silenceableProxy();
    const db = open({ url });
    let startedAt = 0;
    const outcome = db.kysely.transaction().execute(async (transaction) => {
      startedAt = performance.now();
      await sql`select pg_sleep(1.2)`.execute(transaction);
      proxy.silence();
      await sql`select 2`.execute(transaction);
    });
    await expect(outcome).rejects.toMatchObject({ code: 'ETIMEDOUT' });
    expect(performance.now() - startedAt).toBeLessThan(2_500);
  });

  test('ends a statement that takes too long, and goes on with the next', async () => {
    const db = open();
    await connected(db);
    await expect(sql`select pg_sleep(60)`.execute(db)).rejects.toMatchObject({ code: '57014' });
    expect((await sql`select 1 as one`.execute(db)).rows).toEqual([{ one: 1 }]);
  });

  test('leaves nothing locked for long when its process stops in a transaction', async () => {
    const [db, other] = [open(), open({ purpose: 'migrations' })];
    await sql`create table held ()`.execute(other);
    // As a process that is frozen, or cut off from the network: it asks for nothing more, and ends nothing.
    const abandoned = await db.kysely.startTransaction().execute();
    await sql`lock table held`.execute(abandoned);
    await other.kysely.transaction().execute((waiting) => sql`lock table held`.execute(waiting));
    await abandoned
      .rollback()
      .execute()
      .catch(() => undefined);
  });

  test('fails once with ETIMEDOUT, not 503, when the server falls silent, and takes new connections then', async () => {
    const { proxy, url } = await silenceableProxy();
    const db = open({ url, poolMax: 4 });
    const all = Array.from({ length: 4 }, () => sql`select pg_sleep(0.1)`.execute(db).catch(() => undefined));
    await Promise.all(all);
    proxy.silence();
    await expect(sql`select 2`.execute(db)).rejects.toMatchObject({ code: 'ETIMEDOUT' });
    // None of the others that were open is used, though they look as usual.
    for (const number of [3, 4, 5])
      expect((await sql`select ${number}::int as number`.execute(db)).rows).toEqual([{ number }]);
  });

  test('fails with ETIMEDOUT, not 503, what waits for a connection while the server is silent', async () => {
    const { proxy, url } = await silenceableProxy();
    const db = open({ url });
    await connected(db);
    proxy.silence();
    const outcomes = await Promise.allSettled(Array.from({ length: 5 }, () => sql`select 2`.execute(db)));
    for (const outcome of outcomes) expect(outcome).toMatchObject({ reason: { code: 'ETIMEDOUT' } });
  });

  test('counts a session in the pool whose statement did not end in time, until it ends', async () => {
    const [db, observer] = [open(), open()];
    await connected(db);
    const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(db);
    process.kill(rows[0]!.pid, 'SIGSTOP');
    await expect(sql`select 2`.execute(db)).rejects.toMatchObject({ code: 'ETIMEDOUT' });
    expect(db.poolUse).toEqual({ inUse: 1, idle: 0, waiting: 0 });
    const next = sql`select 3 as three`.execute(db);
    expect(db.poolUse).toEqual({ inUse: 1, idle: 0, waiting: 1 });
    process.kill(rows[0]!.pid, 'SIGCONT');
    expect((await next).rows).toEqual([{ three: 3 }]);
    while ((await sql`select from pg_stat_activity where pid = ${rows[0]!.pid}`.execute(observer)).rows.length > 0);
  });

  test('gives up after 10 s a session whose statement does not end, and opens another', async () => {
    const { proxy, url } = await silenceableProxy();
    const db = open({ url });
    await connected(db);
    proxy.silence();
    await expect(sql`select 2`.execute(db)).rejects.toMatchObject({ code: 'ETIMEDOUT' });
    const silentAt = performance.now();
    await connected(db);
    expect(performance.now() - silentAt).toBeGreaterThan(9_000);
  });
});

/** Stands between a client and the server, and can stop passing anything on, as a network that drops packets does. */
async function silenceableProxy() {
  const target = new URL(database.url);
  const sockets: Socket[] = [];
  let holdsNew = false;
  const server = createServer((client) => {
    sockets.push(client);
    client.on('error', () => client.destroy());
    if (holdsNew) return;
    const upstream = connect(Number(target.port), target.hostname);
    client.pipe(upstream).pipe(client);
    client.on('close', () => upstream.destroy());
    upstream.on('error', () => client.destroy());
    sockets.push(upstream);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = new URL(database.url);
  url.host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const proxy = {
    /** Of the connections that there are; new ones work. */
    silence: () => sockets.forEach((socket) => socket.unpipe().pause()),
    /** Accepts connections, and does nothing with them. */
    holdNew: () => (holdsNew = true),
  };
  closeProxy = () => {
    sockets.forEach((socket) => socket.destroy());
    server.close();
  };
  return { proxy, url: url.href };
}
