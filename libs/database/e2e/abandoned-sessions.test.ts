import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { replication } from '@rest-services/local-postgres';
import { sql } from 'kysely';
import { Database } from '../src/index.ts';

// Statements that the server does not end when their client has given them up.

const POOL_MAX = 4;
/** Sends a write, with which the others of a service would wait. */
const WRITE = { text: 'insert into written default values' };

let directory: string;
let primary: replication.ReplicationServer;
let observer: Database<unknown>;
let db: Database<unknown>;
let changes: boolean[];

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'abandoned-sessions-'));
  primary = await replication.startPrimary(join(directory, 'a'));
  observer = new Database({ url: primary.url, poolMax: 1, hasTimeouts: false, onConnectionError: () => undefined });
  await sql`create table written (id bigint primary key generated always as identity)`.execute(observer);
});
beforeEach(() => {
  changes = [];
});
afterEach(() => db.destroy());
afterAll(async () => {
  await observer.destroy();
  await replication.stop(primary, 'immediate');
  await rm(directory, { recursive: true, force: true });
});

function open(options: { pooler?: 'transaction' } = {}) {
  db = new Database({
    url: primary.url,
    poolMax: POOL_MAX,
    onConnectionError: () => undefined,
    onWritesRefused: (areRefused) => changes.push(areRefused),
    ...options,
  });
}

/** Has each commit wait for a standby of this name. */
async function waitFor(standby: string) {
  await sql`alter system set synchronous_standby_names = ${sql.lit(standby)}`.execute(observer);
  await sql`select pg_reload_conf()`.execute(observer);
}

/** Sessions of the service at the server that run a statement. */
async function running() {
  const { rows } = await sql<{ count: number }>`
    select count(*) from pg_stat_activity
    where state = 'active' and query = ${WRITE.text}`.execute(observer);
  return rows[0]!.count;
}

/** Writes from two clients, each time again, until the service refuses them. */
async function writeUntilRefused() {
  const client = async () => {
    while (!db.refusesWrites) await db.write(WRITE, []).catch(() => undefined);
  };
  await Promise.all([client(), client()]);
}

async function becomes(condition: () => boolean) {
  while (!condition()) await sleep(50);
}

test('While the only synchronous standby is away, writes are refused early, and reads go on', async () => {
  open();
  await waitFor('away');
  await writeUntilRefused();
  for (let turn = 0; turn < 20; turn += 1) {
    await expect(db.write(WRITE, [])).rejects.toMatchObject({ reason: 'abandoned_sessions' });
    await expect(sql`insert into written default values`.execute(db)).rejects.toMatchObject({
      reason: 'abandoned_sessions',
    });
    expect((await db.read({ text: 'select 1 as one' }, [])).rows).toEqual([{ one: 1 }]);
  }
  expect(await running()).toBeLessThanOrEqual(POOL_MAX);
  expect(db.abandonedSessions).toBe(POOL_MAX / 2);
  expect(changes).toEqual([true]);

  await waitFor('');
  await becomes(() => !db.refusesWrites && db.abandonedSessions === 0);
  await db.write(WRITE, []);
  expect(changes).toEqual([true, false]);
});

test('While a table is locked behind a pooler, which forgets timeouts, writes are refused early, and reads go on', async () => {
  open({ pooler: 'transaction' });
  await observer.kysely.transaction().execute(async (locking) => {
    await sql`lock table written`.execute(locking);
    await writeUntilRefused();
    expect((await db.read({ text: 'select 1 as one' }, [])).rows).toEqual([{ one: 1 }]);
  });
  await becomes(() => !db.refusesWrites && db.abandonedSessions === 0);
  await db.write(WRITE, []);
});
