import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import pg from 'pg';
import { replication } from '../src/index.ts';

const { demote, kill, promote, restartImmediately, setSynchronous, signal, startPrimary, startStandby, stop } =
  replication;

let home: string;
let primary: replication.ReplicationServer;
let standby: replication.ReplicationServer;

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'replication-test-'));
  primary = await startPrimary(join(home, 'one'));
  await query(primary, 'create table t (n integer)');
  standby = await startStandby(primary, join(home, 'two'), { name: 'two' });
});
afterEach(async () => {
  await Promise.all([primary, standby].map((server) => stop(server, 'immediate')));
  await rm(home, { recursive: true, force: true });
});

async function query({ url }: replication.ReplicationServer, statement: string) {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(statement)).rows;
  } finally {
    await client.end();
  }
}

const insert = (server: replication.ReplicationServer, n: number) => query(server, `insert into t values (${n})`);

/** Values of the rows that the server has. */
const values = async (server: replication.ReplicationServer) =>
  (await query(server, 'select n from t order by n')).map(({ n }) => n);

describe('A standby', () => {
  test('has each row at once when commits wait until it applies them', async () => {
    await setSynchronous(primary, 'two', 'remote_apply');
    for (let n = 1; n <= 20; n += 1) {
      await insert(primary, n);
      expect((await values(standby)).length).toBe(n);
    }
  });

  test('refuses writes until it is promoted', async () => {
    await expect(insert(standby, 1)).rejects.toMatchObject({ code: '25006' });
    await promote(standby);
    await insert(standby, 1);
    expect(await values(standby)).toEqual([1]);
  });

  test('has what its primary acknowledged before it was killed', async () => {
    await setSynchronous(primary, 'two');
    await insert(primary, 1);
    await kill(primary);
    await promote(standby);
    await insert(standby, 2);
    expect(await values(standby)).toEqual([1, 2]);
    await expect(query(primary, 'select')).rejects.toMatchObject({ code: 'ECONNREFUSED' });
    await replication.start(primary);
    expect(await values(primary)).toEqual([1]);
  });

  test('makes commits wait while it is stopped, unless it is not synchronous', async () => {
    await setSynchronous(primary, 'two');
    await stop(standby);
    const waiting = insert(primary, 1);
    const isWaiting = async () =>
      (await query(primary, `select from pg_stat_activity where wait_event = 'SyncRep'`)).length > 0;
    while (!(await isWaiting())) expect(await values(primary)).toEqual([]);
    await setSynchronous(primary, '');
    await waiting;
    expect(await values(primary)).toEqual([1]);
  });

  test('follows its primary through an immediate restart', async () => {
    await restartImmediately(primary);
    await setSynchronous(primary, 'two', 'remote_apply');
    await insert(primary, 1);
    expect(await values(standby)).toEqual([1]);
  });
});

describe('A former primary', () => {
  test('follows the promoted standby as it is after a shutdown, and with a base backup when killed', async () => {
    await setSynchronous(primary, 'two');
    await stop(primary);
    await promote(standby);
    await demote(primary, standby, { name: 'one' });
    await setSynchronous(standby, 'one', 'remote_apply');
    await insert(standby, 1);
    expect(await values(primary)).toEqual([1]);

    await kill(standby);
    await promote(primary);
    const { port } = standby;
    standby = await startStandby(primary, join(home, 'two'), { name: 'two', port });
    await setSynchronous(primary, 'two', 'remote_apply');
    await insert(primary, 2);
    expect([standby.port, await values(standby)]).toEqual([port, [1, 2]]);
  });
});

describe('signal', () => {
  test('stops all processes of a server, and lets them continue', async () => {
    await signal(primary, 'SIGSTOP');
    const response = insert(primary, 1).then(() => 'continued');
    expect(await Promise.race([response, promote(standby).then(() => 'stopped')])).toBe('stopped');
    await signal(primary, 'SIGCONT');
    expect(await response).toBe('continued');
  });
});
