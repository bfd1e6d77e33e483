import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { once } from 'node:events';
import { setImmediate as endOfTurn } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { OverloadedError } from '@rest-services/errors';
import { createTestDatabase, type TestDatabase } from '@rest-services/local-postgres';
import { sql, type Kysely } from 'kysely';
import { Database } from '../src/index.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

const onConnectionError = () => undefined;
const open = (url = database.url, poolMax = 1) => new Database({ url, poolMax, onConnectionError });

/** Connects, which may take longer than a request waits on a busy machine. */
async function connected(db: Kysely<unknown>): Promise<void> {
  await sql`select 1`.execute(db).catch(() => connected(db));
}

describe('Database', () => {
  test('reads bigint as a number', async () => {
    const db = open();
    const { rows } = await sql`select 9007199254740991::bigint as largest, count(*) from (values (1), (2)) v`.execute(
      db,
    );
    expect(rows).toEqual([{ largest: Number.MAX_SAFE_INTEGER, count: 2 }]);
    await db.destroy();
  });

  test.each([
    ['2026-11-20 18:30:00+00', '2026-11-20T18:30:00.000Z'],
    ['2026-11-20 18:30:00.5+00', '2026-11-20T18:30:00.500Z'],
    ['2026-11-20 18:30:00.123+00', '2026-11-20T18:30:00.123Z'],
    ['2026-11-20 18:30:00.123999+00', '2026-11-20T18:30:00.123Z'],
    ['2026-11-20 18:30:00+05:30', '2026-11-20T13:00:00.000Z'],
  ])('reads the timestamp %s as %s', async (text, iso) => {
    for (const zone of ['UTC', 'Asia/Tokyo']) {
      const db = open();
      await sql`select set_config('TimeZone', ${zone}, false)`.execute(db);
      expect((await sql`select ${text}::timestamptz as at`.execute(db)).rows).toEqual([{ at: iso }]);
      await db.destroy();
    }
  });

  test('refuses with 503 what more than a hundred others wait for', async () => {
    const db = open();
    const outcome = (query: Promise<unknown>) =>
      query.then(
        () => 'done',
        (error: unknown) => (error instanceof OverloadedError ? 503 : error),
      );
    const holder = sql`select pg_sleep(0.4)`.execute(db);
    const others = Array.from({ length: 120 }, () => outcome(sql`select 1`.execute(db)));
    expect(await Promise.race([holder.then(() => 'the holder'), others.at(-1)])).toBe(503);
    expect(db.poolUse).toEqual({ inUse: 1, idle: 0, waiting: 100 });
    const outcomes = await Promise.all(others);
    expect(outcomes.filter((each) => each === 503)).toHaveLength(20);
    expect(outcomes.filter((each) => each === 'done')).toHaveLength(100);
    expect(db.poolUse).toEqual({ inUse: 0, idle: 1, waiting: 0 });
    await db.destroy();
  });

  test('reads an answer to its end that has not arrived in time because the event loop was busy', async () => {
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
    await db.destroy();
  });

  test('answers 503 when no connection has become free within 1 s although others were served', async () => {
    const db = open();
    const sleepers = Array.from({ length: 8 }, () => sql`select pg_sleep(0.3)`.execute(db));
    const outcomes = await Promise.allSettled(sleepers);
    const refused = outcomes.filter(({ status }) => status === 'rejected');
    expect(refused.length).toBeGreaterThan(0);
    for (const outcome of refused) expect(outcome).toMatchObject({ reason: expect.any(OverloadedError) });
    await db.destroy();
  });

  test('refuses with 503 who has waited too long for a new connection while others got their answers', async () => {
    const { proxy, url } = await silenceableProxy();
    const db = open(url, 2);
    await sql`select 1`.execute(db);
    proxy.holdNew();
    const answered = sql`select pg_sleep(0.3)`.execute(db);
    await new Promise(setImmediate);
    await expect(sql`select 1`.execute(db)).rejects.toThrow(OverloadedError);
    await answered;
    await db.destroy();
    proxy.close();
  });

  test('fails with ETIMEDOUT, not 503, while the server answers nobody', async () => {
    const { proxy, url } = await silenceableProxy();
    const db = open(url);
    await sql`select 1`.execute(db);
    proxy.silence();
    const outcomes = await Promise.allSettled(Array.from({ length: 5 }, () => sql`select 2`.execute(db)));
    for (const outcome of outcomes) expect(outcome).toMatchObject({ reason: { code: 'ETIMEDOUT' } });
    await db.destroy();
    proxy.close();
  });

  test('gives up a whole transaction in the time of one statement', async () => {
    const { proxy, url } = await silenceableProxy();
    const db = open(url);
    let startedAt = 0;
    const outcome = db.transaction().execute(async (transaction) => {
      startedAt = performance.now();
      await sql`select pg_sleep(1.2)`.execute(transaction);
      proxy.silence();
      await sql`select 2`.execute(transaction);
    });
    await expect(outcome).rejects.toMatchObject({ code: 'ETIMEDOUT' });
    expect(performance.now() - startedAt).toBeLessThan(2_500);
    await db.destroy();
    proxy.close();
  });

  test('ends a statement that takes too long, and goes on with the next', async () => {
    const db = open();
    await connected(db);
    await expect(sql`select pg_sleep(60)`.execute(db)).rejects.toMatchObject({ code: '57014' });
    expect((await sql`select 1 as one`.execute(db)).rows).toEqual([{ one: 1 }]);
    await db.destroy();
  });

  test('takes an answer that has arrived in time, though the process was too busy to read it', async () => {
    const db = open();
    await sql`select 1`.execute(db);
    const answer = sql`select 2 as two`.execute(db);
    await new Promise(setImmediate);
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2_000);
    expect((await answer).rows).toEqual([{ two: 2 }]);
    await db.destroy();
  });

  test('keeps a connection that nobody uses for five minutes, not longer', async () => {
    jest.useFakeTimers({ doNotFake: ['Date', 'nextTick', 'performance', 'queueMicrotask', 'setImmediate'] });
    const db = open();
    try {
      await sql`select 1`.execute(db);
      jest.advanceTimersByTime(299_000);
      expect(db.poolUse).toEqual({ inUse: 0, idle: 1, waiting: 0 });
      jest.advanceTimersByTime(2_000);
      expect(db.poolUse).toEqual({ inUse: 0, idle: 0, waiting: 0 });
    } finally {
      jest.useRealTimers();
      await db.destroy();
    }
  });

  test('replaces a connection that is in use all the time after ten minutes, not sooner', async () => {
    jest.useFakeTimers({ doNotFake: ['Date', 'nextTick', 'performance', 'queueMicrotask', 'setImmediate'] });
    const db = open();
    const session = async () => (await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(db)).rows[0]!.pid;
    try {
      const sessions = [await session()];
      for (let minutes = 0; minutes < 12; minutes += 1) {
        jest.advanceTimersByTime(60_000);
        sessions.push(await session());
      }
      // After the first, one for each of the minutes 1 to 12.
      expect(new Set(sessions.slice(0, 10)).size).toBe(1);
      expect(new Set(sessions).size).toBe(2);
    } finally {
      jest.useRealTimers();
      await db.destroy();
    }
  });

  test('survives that its connection is killed, idle or in use', async () => {
    let report: (lost: Error) => void;
    const reported = new Promise<Error>((resolve) => (report = resolve));
    const db = new Database({ url: database.url, poolMax: 1, onConnectionError: (lost) => report(lost) });
    await expect(sql`select pg_terminate_backend(pg_backend_pid())`.execute(db)).rejects.toThrow();
    const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(db);

    const other = open();
    await sql`select pg_terminate_backend(${rows[0]!.pid})`.execute(other);
    expect(await reported).toMatchObject({ code: '57P01' });
    expect((await sql`select 1 as one`.execute(db)).rows).toEqual([{ one: 1 }]);
    await Promise.all([db.destroy(), other.destroy()]);
  });

  test('reads the password again, once, when the server refuses it', async () => {
    const passwords = ['wrong', new URL(database.url).password, 'wrong', 'wrong', new URL(database.url).password];
    const readPassword = () => Promise.resolve(passwords.shift()!);
    const db = new Database({ url: database.url, readPassword, poolMax: 1, onConnectionError });
    const discarded = new Database({ url: database.url, readPassword, poolMax: 1, onConnectionError });
    expect((await sql`select 1 as one`.execute(db)).rows).toEqual([{ one: 1 }]);
    await expect(sql`select 1`.execute(discarded)).rejects.toMatchObject({ code: '28P01' });
    expect(passwords).toHaveLength(1);
    await Promise.all([db.destroy(), discarded.destroy()]);
  });

  test('keeps no session that began while the database was read-only', async () => {
    const [db, other] = [open(), open()];
    await inDatabase(other, 'set default_transaction_read_only = on');
    await expect(sql`create table written ()`.execute(db)).rejects.toMatchObject({ code: '25006' });
    await sql`begin read write`.execute(other);
    await inDatabase(other, 'reset default_transaction_read_only');
    await sql`commit`.execute(other);
    await sql`create table written ()`.execute(db);
    await Promise.all([db.destroy(), other.destroy()]);
  });

  test('leaves nothing locked for long when its process has stopped in the middle of a transaction', async () => {
    const [db, other] = [
      open(),
      new Database({ url: database.url, poolMax: 1, hasTimeouts: false, onConnectionError }),
    ];
    await sql`create table held ()`.execute(other);
    // As a process that is frozen, or cut off from the network: it asks for nothing more, and ends nothing.
    const abandoned = await db.startTransaction().execute();
    await sql`lock table held`.execute(abandoned);
    await other.transaction().execute((waiting) => sql`lock table held`.execute(waiting));
    await Promise.allSettled([abandoned.rollback().execute(), other.destroy(), db.destroy()]);
  });

  test('has no time limit for migrations, whatever the database has', async () => {
    const observer = open();
    await inDatabase(observer, "set statement_timeout = '50ms'");
    await inDatabase(observer, "set lock_timeout = '50ms'");
    const db = new Database({ url: database.url, poolMax: 1, hasTimeouts: false, onConnectionError });
    await sql`select pg_sleep(0.1)`.execute(db);
    const { rows } = await sql`select current_setting('lock_timeout') as lock_timeout`.execute(db);
    expect(rows).toEqual([{ lock_timeout: '0' }]);
    await inDatabase(observer, 'reset all');
    await Promise.all([observer.destroy(), db.destroy()]);
  });

  test('has its own defaults, whatever the database has, and the options of the connection string beside them', async () => {
    const url = new URL(database.url);
    url.searchParams.set('options', '-c search_path=elsewhere -c DateStyle=German');
    const db = open(url.href);
    const other = new Database({ url: database.url, poolMax: 1, hasTimeouts: false, onConnectionError });
    await inDatabase(other, "set DateStyle = 'SQL, DMY'");
    await inDatabase(other, "set default_transaction_isolation = 'serializable'");
    await inDatabase(other, 'set jit = on');
    await inDatabase(other, "set idle_session_timeout = '1min'");
    const { rows } = await sql`
      select '2026-11-05 18:30:00+00'::timestamptz as at, current_setting('transaction_isolation') as isolation,
        current_setting('search_path') as path, current_setting('TimeZone') as zone,
        current_setting('enable_seqscan') as seqscan, current_setting('jit') as jit,
        current_setting('idle_session_timeout') as idle`.execute(db);
    await inDatabase(other, 'reset all');
    expect(rows).toEqual([
      {
        ...{ at: '2026-11-05T18:30:00.000Z', isolation: 'read committed', path: 'elsewhere', zone: 'UTC' },
        ...{ seqscan: 'off', jit: 'off', idle: '0' },
      },
    ]);
    await Promise.all([db.destroy(), other.destroy()]);
  });

  test('asks PostgreSQL to end sessions whose process has gone: keep-alive after 30 s, idle transactions after 3 s, in migrations 10 s', async () => {
    const ofSession = async (hasTimeouts: boolean) => {
      const db = new Database({ url: database.url, poolMax: 1, hasTimeouts, onConnectionError: () => undefined });
      const { rows } = await sql`
        select current_setting('idle_in_transaction_session_timeout') as idle, current_setting('tcp_keepalives_idle') as keepalive,
          current_setting('client_connection_check_interval') as checked`.execute(db);
      await db.destroy();
      return rows;
    };
    expect(await ofSession(true)).toEqual([{ idle: '3s', keepalive: '30', checked: '1s' }]);
    expect(await ofSession(false)).toEqual([{ idle: '10s', keepalive: '30', checked: '1s' }]);
  });

  test('gives up a connection on which the server is silent, and takes a new one when it answers again', async () => {
    const { proxy, url } = await silenceableProxy();
    const db = open(url);
    await sql`select 1`.execute(db);
    proxy.silence();
    await expect(sql`select 2`.execute(db)).rejects.toMatchObject({ code: 'ETIMEDOUT' });
    expect((await sql`select 3 as three`.execute(db)).rows).toEqual([{ three: 3 }]);
    await db.destroy();
    proxy.close();
  });
});

const inDatabase = (db: ReturnType<typeof open>, change: string) =>
  sql`do ${sql.lit(`begin execute format('alter database %I ${change.replaceAll("'", "''")}', current_database()); end`)}`.execute(
    db,
  );

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
    close: () => {
      sockets.forEach((socket) => socket.destroy());
      server.close();
    },
  };
  return { proxy, url: url.href };
}
