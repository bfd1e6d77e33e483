import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { runSeed } from '@rest-services/history';
import { ensureDatabase } from '@rest-services/local-postgres';
import { openTestConnection, startProcess, withMargin } from '@rest-services/testing';
import { sql } from 'kysely';
import { main } from '../program.ts';
import { startPatroni, type Member } from './patroni.ts';

// Histories of clients tell of a lost write, of a read that misses one, and of a late response.

let cluster: Awaited<ReturnType<typeof startPatroni>>;
beforeAll(async () => {
  cluster = await startPatroni();
});
afterAll(() => cluster.stop());
let seed = 0;

/**
 * Checks what the clients of two services behind HAProxy see, on a database that is new, and prints a line of figures.
 * @returns the violations
 * @param seconds for which the clients send requests
 * @param heal runs while they do, when items are created again
 */
async function violationsIn(
  seconds: number,
  fault: (leader: Member) => Promise<unknown>,
  heal?: (leader: Member) => Promise<unknown>,
) {
  await cluster.streaming();
  const database = `history_${(seed += 1)}`;
  await ensureDatabase(await cluster.leaderUrl('postgres'), database);
  const services = [0, 1].map(() => startProcess(main, { DATABASE_URL: cluster.haproxyUrl(database) }));
  const urls = await Promise.all(services.map(({ listening }) => listening()));

  const startedAt = performance.now();
  let [faultAt, leaderAt] = [0, 0];
  const { violations, history, longestMs } = await runSeed({
    ...{ seed, seconds, urls, databaseUrl: () => cluster.leaderUrl(database) },
    fault: async () => {
      await sleep(2_000);
      const leader = await cluster.leader();
      faultAt = performance.now() - startedAt;
      await fault(leader);
      await cluster.leader();
      leaderAt = performance.now() - startedAt;
      await createsGoOn(database);
      await heal?.(leader);
    },
  });
  const created = history.operations.filter(({ kind, response }) => kind === 'create' && response?.status === 201);
  const figures = {
    leaderMs: leaderAt - faultAt,
    createMs: created.find((operation) => operation.startedAt > leaderAt)!.endedAt - leaderAt,
    longestMs,
    requests: history.operations.length,
    created: created.length,
  };
  process.stdout.write(`${expect.getState().currentTestName} ${JSON.stringify(figures)}\n`);
  expect(longestMs).toBeLessThan(withMargin(3_000));
  expect(services.map(({ child }) => child.exitCode)).toEqual([null, null]);
  services.forEach(({ child }) => child.kill('SIGKILL'));
  return violations;
}

/** Waits until clients have created items after this moment. */
async function createsGoOn(database: string) {
  const db = openTestConnection<unknown>(await cluster.leaderUrl(database));
  const { rows } = await sql<{ now: string }>`select now()`.execute(db);
  const created = sql`select from item where created_at > ${rows[0]!.now}`;
  while ((await created.execute(db)).rows.length < 50) continue;
  await db.destroy();
}

test('A switchover loses no write that a client knows of', async () => {
  expect(await violationsIn(10, cluster.switchover)).toEqual([]);
});

test('A leader that falls silent and comes back loses and adds nothing', async () => {
  expect(await violationsIn(30, cluster.freeze, cluster.thaw)).toEqual([]);
});

test('Writes go on after the loss of the synchronous standby', async () => {
  const standby = await cluster.streaming();
  const violations = await violationsIn(
    12,
    async () => {
      await cluster.freeze(standby);
      await cluster.streaming();
    },
    () => cluster.thaw(standby),
  );
  expect(violations).toEqual([]);
});

test('The machine of the leader takes no write with it that a client knows of', async () => {
  expect(await violationsIn(30, cluster.lose)).toEqual([]);
});
