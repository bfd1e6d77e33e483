import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, expect, test } from '@jest/globals';
import { runSeed, type History } from '@rest-services/history';
import { ensureDatabase } from '@rest-services/local-postgres';
import { startProcess, withMargin } from '@rest-services/testing';
import { main } from '../program.ts';
import { startPatroni, type Member } from './patroni.ts';

// Histories of clients tell of a lost write, of a read that misses one, and of a late response.

const cluster = await startPatroni();
afterAll(() => cluster.stop());
let seed = 0;

/**
 * Checks what the clients of two services behind HAProxy see, on a database that is new, and prints a line of figures.
 * @returns the violations
 */
async function violationsIn(fault: (leader: Member) => Promise<unknown>) {
  await cluster.synchronousStandby();
  const database = `history_${(seed += 1)}`;
  await ensureDatabase(await cluster.leaderUrl('postgres'), database);
  const services = [0, 1].map(() => startProcess(main, { DATABASE_URL: cluster.haproxyUrl(database) }));
  const urls = await Promise.all(services.map(({ listening }) => listening()));

  let [faultAt, leaderAt] = [0, 0];
  const { violations, history, longestMs } = await runSeed({
    ...{ seed, urls, databaseUrl: () => cluster.leaderUrl(database) },
    fault: async (_, ongoing) => {
      await sleep(2_000);
      const leader = await cluster.leader();
      faultAt = ongoing.now();
      await fault(leader);
      await cluster.leader();
      leaderAt = ongoing.now();
      const { length } = createsIn(ongoing);
      while (createsIn(ongoing).length < length + 50) {
        if (ongoing.now() > leaderAt + 60_000) throw new Error('Clients create no more items');
        await sleep(100);
      }
    },
  });
  const created = createsIn(history);
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

/** Creates that a service has acknowledged. */
const createsIn = ({ operations }: History) =>
  operations.filter(({ kind, response }) => kind === 'create' && response?.status === 201);

test('A switchover loses no write that a client knows of', async () => {
  expect(await violationsIn(cluster.switchover)).toEqual([]);
});

test('Writes go on after the loss of the synchronous standby', async () => {
  const standby = await cluster.synchronousStandby();
  const replace = async () => {
    await cluster.silence(standby);
    await cluster.synchronousStandby();
  };
  expect(await violationsIn(replace)).toEqual([]);
});

test('The machine of the leader takes no write with it that a client knows of', async () => {
  expect(await violationsIn(cluster.lose)).toEqual([]);
});
