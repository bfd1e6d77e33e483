import { setImmediate as endOfTurn } from 'node:timers/promises';
import { afterEach, describe, expect, test } from '@jest/globals';
import { OverloadedError } from '@rest-services/errors';
import { sql, type QueryExecutorProvider } from 'kysely';
import { Type } from 'typebox';
import { Repository } from '../src/index.ts';
import { database, open, openConnected, openPatient } from '../test/open-database.ts';

/** Process ids of sessions. */
const frozen = new Set<number>();
const signal = (name: NodeJS.Signals) => frozen.forEach((pid) => process.kill(pid, name));

/** Opens sessions of a pool, and freezes them, as a server that falls silent does; new ones work. */
async function freeze(db: QueryExecutorProvider, sessions = 1) {
  const own = () => sql<{ pid: number }>`select pg_backend_pid() as pid from pg_sleep(0.1)`.execute(db);
  // A connection may take longer than a request waits on a busy machine.
  while (frozen.size < sessions)
    for (const outcome of await Promise.allSettled(Array.from({ length: sessions }, own)))
      if (outcome.status === 'fulfilled') frozen.add(outcome.value.rows[0]!.pid);
  signal('SIGSTOP');
}

/** Lets them go on, to do what they were sent. @returns when they have ended */
async function thaw() {
  signal('SIGCONT');
  const [sessions, observer] = [sql`select from pg_stat_activity where pid = any(${[...frozen]})`, openPatient()];
  while ((await sessions.execute(observer)).rows.length > 0);
  frozen.clear();
}

afterEach(() => {
  signal('SIGCONT');
  frozen.clear();
});

describe('Database', () => {
  test('reads a response to its end that the event loop was too busy to read in time', async () => {
    const db = await openConnected();
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

  test('responds 503 when a new connection takes too long while other requests are served', async () => {
    const passwords = [new URL(database.url).password];
    // The server waits for the second one.
    const readPassword = () => new Promise<string>((resolve) => passwords.length > 0 && resolve(passwords.pop()!));
    const db = open({ readPassword, poolMax: 2 });
    await sql`select 1`.execute(db).catch(() => undefined);
    const answered = sql`select pg_sleep(0.3)`.execute(db);
    await endOfTurn();
    await expect(sql`select 1`.execute(db)).rejects.toThrow(OverloadedError);
    await answered;
  });

  test('gives up a whole transaction in the time of one statement', async () => {
    const db = await openConnected();
    let startedAt = 0;
    const outcome = db.kysely.transaction().execute(async (transaction) => {
      startedAt = performance.now();
      await sql`select pg_sleep(0.8)`.execute(transaction);
      await freeze(transaction);
      await sql`select 2`.execute(transaction);
    });
    await expect(outcome).rejects.toMatchObject({ code: 'ETIMEDOUT' });
    expect(performance.now() - startedAt).toBeLessThan(2_500);
  });

  test('leaves nothing locked for long when its process stops in a transaction', async () => {
    const [db, other] = [await openConnected(), open({ purpose: 'migrations' })];
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
});

describe('A server that falls silent', () => {
  const silent: unknown = expect.objectContaining({ code: 'ETIMEDOUT' });

  test('fails one request, with ETIMEDOUT, not 503, and those after it take new connections', async () => {
    const db = open({ poolMax: 4 });
    await freeze(db, 4);
    await expect(sql`select 2`.execute(db)).rejects.toEqual(silent);
    // None of the others that were open is used, though they look as usual.
    for (const number of [3, 4, 5])
      expect((await sql`select ${number}::int as number`.execute(db)).rows).toEqual([{ number }]);
  });

  test('fails with ETIMEDOUT, not 503, what waits for a connection', async () => {
    const db = open();
    await freeze(db);
    const outcomes = await Promise.allSettled(Array.from({ length: 5 }, () => sql`select 2`.execute(db)));
    for (const outcome of outcomes) expect(outcome).toMatchObject({ reason: silent });
  });

  test('has no more sessions than the pool: one without response counts until it ends', async () => {
    const db = open();
    await freeze(db);
    await expect(sql`select 2`.execute(db)).rejects.toEqual(silent);
    expect(db.poolUse).toEqual({ inUse: 1, idle: 0, waiting: 0 });
    const next = sql`select 3 as three`.execute(db);
    expect(db.poolUse).toEqual({ inUse: 1, idle: 0, waiting: 1 });
    const ended = thaw();
    expect((await next).rows).toEqual([{ three: 3 }]);
    await ended;
  });

  test('is given up after 10 s by a session without response, and another one is opened', async () => {
    const db = open();
    await freeze(db);
    await expect(sql`select 2`.execute(db)).rejects.toEqual(silent);
    const silentAt = performance.now();
    const isAnswered = () => sql`select 3`.execute(db).then(Boolean, () => false);
    while (!(await isAnswered()));
    expect(performance.now() - silentAt).toBeGreaterThan(9_000);
  });

  test('makes no change without response that names a version after a later one', async () => {
    const [db, other] = [await openConnected(), await openConnected()];
    await sql`create table note as select 1::bigint as id, 'first' as title`.execute(db);
    const [late, observed] = [db, other].map((each) => {
      const row = Type.Object({ id: Type.Integer(), title: Type.String() });
      return new Repository(each, 'note', { row, insert: Type.Object({}), update: row, absent: 'kept' });
    });
    const { version } = (await late!.findVersion(1))!;
    await freeze(db);
    await expect(late!.update(1, { title: 'late' }, version)).rejects.toEqual(silent);
    expect(await observed!.update(1, { title: 'acknowledged' })).toBe(true);
    await thaw();
    expect(await observed!.findById(1)).toEqual({ id: 1, title: 'acknowledged' });
  });
});
