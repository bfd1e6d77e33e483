import { Agent } from 'node:http';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { runSeed } from '@rest-services/history';
import { ensureDatabase } from '@rest-services/local-postgres';
import { send, startProcess, type Outcome, type Write } from '@rest-services/testing';
import { query, startPatroni, type Member, type PatroniCluster } from './patroni.ts';

const main = join(import.meta.dirname, '..', '..', 'apps', 'items', 'dist', 'main.js');

/** Maximum time of a request of a service, and a second for a busy machine. */
const REQUEST_MS = 4_000;

/** Delay after a failure. Otherwise the clients would take the CPU from Patroni while the cluster lacks a leader. */
const PAUSE_MS = 50;

let cluster: PatroniCluster;
let routes: Route[];

interface Route {
  name: string;
  database: string;
  service: ReturnType<typeof startProcess>;
  url: string;
}

beforeAll(async () => {
  cluster = await startPatroni(true);
  const leader = await cluster.leader();
  const start = async (name: string, database: string, DATABASE_URL: string): Promise<Route> => {
    await ensureDatabase(cluster.memberUrl(leader, 'postgres'), database);
    const service = startProcess(main, { DATABASE_URL });
    return { name, database, service, url: await service.listening() };
  };
  routes = await Promise.all([
    start('HAProxy', 'haproxy', cluster.haproxyUrl('haproxy')),
    start('multi-host', 'multi_host', cluster.multiHostUrl('multi_host')),
  ]);
});
afterAll(() => cluster.stop());

/** Checks the history of clients of both routes on one database, with a fault while they send requests. */
async function expectNoViolation(seed: number, seconds: number, fault: () => Promise<unknown>) {
  const database = `history_${seed}`;
  const databaseUrl = async () => cluster.memberUrl(await cluster.leader(), database);
  await ensureDatabase(cluster.memberUrl(await cluster.leader(), 'postgres'), database);
  const services = [cluster.haproxyUrl(database), cluster.multiHostUrl(database)].map((DATABASE_URL) =>
    startProcess(main, { DATABASE_URL }),
  );
  try {
    const urls = await Promise.all(services.map(({ listening }) => listening()));
    const { violations, requests, unknown, longestMs } = await runSeed({
      ...{ seed, seconds, urls, databaseUrl, fault },
      wrap: (send) => async (request) => {
        const response = await send(request);
        if (response.status >= 500) await sleep(PAUSE_MS);
        return response;
      },
    });
    process.stdout.write(
      `history ${seed} | ${requests} requests, ${unknown} unknown | slowest request ${inSeconds(longestMs)}\n`,
    );
    expect(violations).toEqual([]);
    expect(longestMs).toBeLessThan(REQUEST_MS);
    expect(services.map(({ child }) => child.exitCode)).toEqual([null, null]);
  } finally {
    services.forEach(({ child }) => child.kill('SIGKILL'));
  }
}

interface Item {
  id: number;
  title: string;
}

/** Creates items from four clients and reads them back from two, without pause until `stop()`. */
function startTraffic({ url }: Route, fault: string) {
  const agent = new Agent({ keepAlive: true });
  const outcomes: Outcome[] = [];
  const titles = new Set<string>();
  const created: (Item & { at: number })[] = [];
  const read: (Item & Outcome)[] = [];
  const waiting = new Set<() => void>();
  let isStopped = false;

  async function request(what: string | Write) {
    const outcome = await send(url, what, agent);
    outcomes.push(outcome);
    if (hasFailed(outcome)) await sleep(PAUSE_MS);
    return outcome;
  }

  async function create() {
    while (!isStopped) {
      const title = `Item ${titles.size} of ${fault}`;
      titles.add(title);
      const { status, body } = await request({ method: 'POST', path: '/v1/items', body: { title } });
      if (status !== 201) continue;
      created.push({ id: itemIn(body).id, title, at: performance.now() });
      waiting.forEach((check) => check());
    }
  }

  async function readBack() {
    await creates(1);
    while (!isStopped) {
      // Mostly a new one.
      const { id, title } = created.at(-Math.ceil(created.length * Math.random() ** 4))!;
      read.push({ id, title, ...(await request(`/v1/items/${id}`)) });
    }
  }

  /** Waits for creates after this moment. @returns the time of the last one */
  function creates(count: number) {
    const before = created.length;
    return new Promise<number>((resolve) => {
      const check = () => {
        if (created.length < before + count) return;
        waiting.delete(check);
        resolve(created.at(-1)!.at);
      };
      waiting.add(check);
    });
  }

  const clients = [create, create, create, create, readBack, readBack].map((client) => client());
  return {
    outcomes,
    titles,
    created,
    read,
    creates,
    stop: async () => {
      isStopped = true;
      await Promise.all(clients);
      agent.destroy();
    },
  };
}

type Traffic = ReturnType<typeof startTraffic>;

const hasFailed = ({ status }: Outcome) => status === undefined || status >= 500;

const itemIn = (body: string | undefined) => JSON.parse(body!) as Item;

/**
 * Causes a fault under traffic through each route, and prints a line of figures for each.
 * @param recover runs when items have been created again
 * @returns created items that are not there, and reads of created items without them
 */
async function survive(
  name: string,
  fault: (leader: Member, traffics: Traffic[]) => Promise<unknown>,
  recover: (oldLeader: Member) => Promise<unknown>,
) {
  const traffics = routes.map((route) => startTraffic(route, name));
  const creates = (count: number) => Promise.all(traffics.map((traffic) => traffic.creates(count)));
  let [faultAt, leaderAt] = [0, 0];
  let createdAgainAt: number[] = [];
  async function run() {
    await creates(200);
    const oldLeader = await cluster.leader();
    faultAt = performance.now();
    await fault(oldLeader, traffics);
    const leader = await cluster.leader();
    leaderAt = performance.now();
    createdAgainAt = await creates(1);
    await creates(200);
    await recover(oldLeader);
    return leader;
  }
  const ends = routes.map(async ({ service }) => {
    await service.ended;
    throw new Error('The service has ended');
  });
  let leader;
  try {
    leader = await Promise.race([run(), ...ends]);
  } finally {
    await Promise.all(traffics.map(({ stop }) => stop()));
  }

  const losses = [];
  for (const [index, { outcomes, titles, created, read }] of traffics.entries()) {
    const { name: route, database, service } = routes[index]!;
    const { rows } = await query<Item>(cluster.memberUrl(leader, database), 'select id::int, title from item');
    const titleOf = new Map(rows.map(({ id, title }) => [id, title]));
    const lost = created.filter(({ id, title }) => titleOf.get(id) !== title);
    const missed = read.filter(
      ({ status, title, body }) => status === 404 || (status === 200 && itemIn(body).title !== title),
    );
    const slowestMs = Math.max(...outcomes.map(({ ms }) => ms));
    const times = created.map(({ at }) => at);
    const pauseMs = Math.max(...times.slice(1).map((at, turn) => at - times[turn]!));
    const figures = [
      name,
      route,
      `leader after ${inSeconds(leaderAt - faultAt)}`,
      `create ${inSeconds(createdAgainAt[index]! - leaderAt)} later`,
      `longest time without create ${inSeconds(pauseMs)}`,
      `slowest request ${inSeconds(slowestMs)}`,
      `failed ${outcomes.filter(hasFailed).length} of ${outcomes.length}`,
      `lost ${lost.length} of ${created.length} items`,
      `missed by ${missed.length} of ${read.length} reads`,
    ];
    process.stdout.write(`${figures.join(' | ')}\n`);

    expect(service.child.exitCode).toBeNull();
    expect(outcomes.filter(({ status }) => status === undefined)).toEqual([]);
    expect(slowestMs).toBeLessThan(REQUEST_MS);
    const kept = rows.filter(({ title }) => titles.has(title));
    expect(new Set(kept.map(({ title }) => title)).size).toBe(kept.length);
    losses.push({ lost, missed });
  }
  return losses;
}

const inSeconds = (ms: number) => `${(ms / 1_000).toFixed(1)} s`;

const NOTHING = { lost: [], missed: [] };

test('Loses no created item in a switchover', async () => {
  const losses = await survive(
    'switchover',
    () => cluster.switchover(),
    () => cluster.streaming(),
  );
  expect(losses).toEqual([NOTHING, NOTHING]);
});

test('Loses no created item with the machine of the leader', async () => {
  const losses = await survive(
    'loss of the leader',
    () => cluster.loseLeader(),
    (leader) => cluster.restore(leader),
  );
  expect(losses).toEqual([NOTHING, NOTHING]);
});

test('Loses no created item when a leader is frozen and comes back', async () => {
  const losses = await survive(
    'frozen leader',
    (leader) => cluster.freeze(leader),
    (leader) => cluster.thaw(leader),
  );
  expect(losses).toEqual([NOTHING, NOTHING]);
});

test('Shows clients a linearizable history in a switchover', async () => {
  await expectNoViolation(1, 12, () => cluster.switchover());
  await cluster.streaming();
});

test('Shows clients a linearizable history with the machine of the leader lost', async () => {
  const leader = await cluster.leader();
  // Patroni needs 21 s to elect another leader.
  await expectNoViolation(2, 35, () => cluster.loseLeader());
  await cluster.restore(leader);
});

test('Creates items again after the loss of the synchronous standby', async () => {
  let standby: Member;
  const losses = await survive(
    'frozen synchronous standby',
    async () => cluster.freeze((standby = await cluster.synchronousStandby())),
    () => cluster.thaw(standby),
  );
  expect(losses).toEqual([NOTHING, NOTHING]);
});

test('Loses the last created items with a leader that replicates asynchronously', async () => {
  await cluster.setSynchronous(false);
  const losses = await survive(
    'loss of an asynchronous leader',
    async (leader, traffics) => {
      await cluster.stopReplication(leader);
      await Promise.all(traffics.map(({ creates }) => creates(100)));
      await cluster.loseLeader();
    },
    (leader) => cluster.restore(leader),
  );
  for (const { lost } of losses) expect(lost).not.toEqual([]);
});
