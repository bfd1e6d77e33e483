import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { OverloadedError } from '@rest-services/errors';
import { replication } from '@rest-services/local-postgres';
import { sql } from 'kysely';
import { Database } from '../src/index.ts';
import { requiredStandbys } from '../src/connection/standby-reads.ts';

const { kill, promote, setSynchronous, signal, startPrimary, startStandby, stop } = replication;

test.each([
  ['', []],
  ['b', ['b']],
  ['"Node-2"', ['node-2']],
  ['a, b', []],
  ['2 (a, "b c")', ['a', 'b c']],
  ['ANY 2 (a, b)', ['a', 'b']],
  ['ANY 1 (a, b)', []],
  ['*', []],
])('of synchronous_standby_names %j, each commit waits for %j', (names, required) => {
  expect(requiredStandbys(names)).toEqual(required);
});

describe('Reads', () => {
  let directory: string;
  let primary: replication.ReplicationServer;
  let standby: replication.ReplicationServer;
  let db: Database<unknown>;
  let obstacles: (string | undefined)[];

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'standby-reads-'));
    primary = await startPrimary(join(directory, 'a'));
  });
  // Tests kill and promote the standby.
  beforeEach(async () => {
    standby = await startStandby(primary, join(directory, 'b'), { name: 'b' });
    await setSynchronous(primary, 'b', 'remote_apply');
    obstacles = [];
    db = new Database({
      url: primary.url,
      standby: { url: standby.url },
      poolMax: 2,
      onConnectionError: () => undefined,
      onStandbyChange: (obstacle) => obstacles.push(obstacle),
    });
    await db.checkStandby();
  });
  afterEach(async () => {
    await db.destroy();
    await stop(standby, 'immediate');
    await setSynchronous(primary, '');
  });
  afterAll(async () => {
    await stop(primary, 'immediate');
    await rm(directory, { recursive: true, force: true });
  });

  /** Whether a read runs at the standby. */
  async function readsFromStandby() {
    const { rows } = await db.read<{ standby: boolean }>({ text: 'select pg_is_in_recovery() as standby' }, []);
    return rows[0]!.standby;
  }

  test('go to the standby, and show every write that was acknowledged', async () => {
    expect(await readsFromStandby()).toBe(true);
    await db.write({ text: 'create table written (number int)' }, []);
    for (let number = 1; number <= 300; number++) {
      await db.write({ text: 'insert into written values ($1)' }, [number]);
      const { rows } = await db.read<{ last: number }>({ text: 'select max(number) as last from written' }, []);
      expect(rows).toEqual([{ last: number }]);
    }
    expect(obstacles).toEqual([undefined]);
  });

  test.each([
    ['waits for no standby', '', 'remote_apply'],
    ['does not wait until the standby has applied a commit', 'b', 'on'],
  ] as const)('go to the primary when it %s', async (_, name, commit) => {
    await setSynchronous(primary, name, commit);
    await db.checkStandby();
    expect(await readsFromStandby()).toBe(false);
    expect(obstacles.at(-1)).toBe('not synchronous with remote_apply');
  });

  test('go to the primary at once when the standby is killed, and none fails', async () => {
    await setSynchronous(primary, '', 'remote_apply');
    await kill(standby);
    expect(await readsFromStandby()).toBe(false);
    expect(obstacles.at(-1)).toBe('unreachable');
    expect(db.readsFromStandby).toBe(false);
  });

  test('go to the primary when the standby falls silent, within the time of a request', async () => {
    const stopped = performance.now();
    await signal(standby, 'SIGSTOP');
    expect(await readsFromStandby()).toBe(false);
    // The time of a request, twice because other tests may keep the machine busy.
    expect(performance.now() - stopped).toBeLessThan(2 * 3_000);
    await signal(standby, 'SIGCONT');
    await db.checkStandby();
    expect(await readsFromStandby()).toBe(true);
  });

  test('stay at the standby while the primary is busy', async () => {
    const busy = Array.from({ length: 20 }, () =>
      db.write({ text: 'select pg_sleep(1)' }, []).catch((error: unknown) => error),
    );
    await db.checkStandby();
    expect(await readsFromStandby()).toBe(true);
    expect(obstacles).toEqual([undefined]);
    await Promise.all(busy);
  });

  test('are refused when the standby is busy, and do not go to the primary', async () => {
    const reads = Array.from({ length: 203 }, () => db.read({ text: 'select pg_sleep(0.5)' }, []));
    await expect(reads.at(-1)).rejects.toThrow(OverloadedError);
    const outcomes = await Promise.allSettled(reads);
    for (const outcome of outcomes)
      if (outcome.status === 'rejected') expect(outcome.reason).toBeInstanceOf(OverloadedError);
    expect(db.poolUse).toEqual({ inUse: 0, idle: 0, waiting: 0 });
  });

  test('go to the primary when the standby has been promoted, which is another database then', async () => {
    await promote(standby);
    await db.checkStandby();
    expect(obstacles.at(-1)).toBe('not a standby');
    expect(await readsFromStandby()).toBe(false);
  });

  test('go to a standby that a role without pg_read_all_stats knows by its cluster_name', async () => {
    await sql`create role reader login password 'secret'`.execute(db);
    const asReader = (url: string) => Object.assign(new URL(url), { username: 'reader', password: 'secret' }).href;
    const restricted = new Database({
      url: asReader(primary.url),
      standby: { url: asReader(standby.url) },
      poolMax: 1,
      onConnectionError: () => undefined,
    });
    await restricted.checkStandby();
    expect(restricted.readsFromStandby).toBe(false);

    await db.read({ text: `alter system set cluster_name = 'b'` }, []);
    await stop(standby);
    await replication.start(standby);
    await restricted.checkStandby();
    expect(restricted.readsFromStandby).toBe(true);
    await restricted.destroy();
  });
});
