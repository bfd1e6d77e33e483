import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { setTimeout as sleep } from 'node:timers/promises';
import { ensureDatabase, startCluster, type Cluster } from '@rest-services/local-postgres';
import pg from 'pg';
import { mainOf } from './contestants.ts';
import { tutorialTitle, type Rows } from './scenarios.ts';

/** A server that is still busy after this time will be for longer. */
const IDLE_LIMIT_MS = 60_000;

/** Of PostgreSQL, where the benchmark needs other ones than its defaults. */
export const serverSettings = {
  // The pools of all contestants at once.
  max_connections: '200',
  // All tables: with the default, what one contestant reads would push out what the next one is going to ask for.
  shared_buffers: '512MB',
};

export interface Databases {
  cluster: Cluster;
  /** The services' own databases. That of items has the tables of the contestants too. */
  items: string;
  tutorials: string;
  /** What the server says of itself. */
  version: string;
  fsync: string;
  synchronousCommit: string;
}

/**
 * Starts a server of the benchmark's own, with PostgreSQL's defaults but for `serverSettings`, migrates the databases with the
 * built services, and fills them.
 * @throws Error when the server does not write commits to disk
 */
export async function prepareDatabases(directory: string, rows: Rows): Promise<Databases> {
  const cluster = await startWithSettings(directory);
  try {
    const items = await migrated(cluster, 'items');
    const tutorials = await migrated(cluster, 'tutorials');
    await on(tutorials, (client) => fillTutorials(client, rows.tutorials));
    const settings = await on(items, async (client) => {
      await fillItems(client, rows.items);
      await copyTutorials(client, rows.tutorials);
      // Or the server would write it all to disk during the first measurements.
      await client.query('checkpoint');
      const show = async (name: string) =>
        Object.values((await client.query(`show ${name}`)).rows[0] as object)[0] as string;
      return {
        version: await show('server_version'),
        fsync: await show('fsync'),
        synchronousCommit: await show('synchronous_commit'),
      };
    });
    if (settings.fsync !== 'on' || settings.synchronousCommit !== 'on')
      throw new Error('Commits are not written to disk');
    return { cluster, items, tutorials, ...settings };
  } catch (error) {
    await cluster.stop();
    throw error;
  }
}

async function startWithSettings(directory: string) {
  const cluster = await startCluster(directory, { durable: true });
  await on(cluster.url, async (client) => {
    for (const [name, value] of Object.entries(serverSettings))
      await client.query(`alter system set ${name} = '${value}'`);
  });
  await cluster.stop();
  return startCluster(directory, { durable: true });
}

async function migrated(cluster: Cluster, service: 'items' | 'tutorials', name: string = service) {
  const url = await ensureDatabase(cluster.url, name);
  await runCommand(service, 'migrate', url);
  return url;
}

async function runCommand(service: 'items' | 'tutorials', command: 'migrate' | 'recount', url: string) {
  const env = { PATH: process.env.PATH, NODE_ENV: 'production', DATABASE_URL: url };
  await promisify(execFile)(process.execPath, [mainOf(service), command], { env });
}

/**
 * Makes a database of the items service with this number of items. Loads them without triggers, which takes half the time, and has
 * the service count them then.
 * @throws Error when the service counts another number
 */
export async function prepareItems(cluster: Cluster, rows: number): Promise<string> {
  const url = await migrated(cluster, 'items', `items_${rows}`);
  await on(url, async (client) => {
    await client.query('alter table item disable trigger user');
    await client.query(insertItems(rows));
    await client.query('alter table item enable trigger user');
    await client.query('vacuum analyze item');
  });
  await runCommand('items', 'recount', url);
  await on(url, async (client) => {
    const { total } = (await client.query<{ total: string }>('select total from item_count')).rows[0]!;
    if (Number(total) !== rows) throw new Error(`The items service counts ${total} items, not ${rows}`);
    await client.query('checkpoint');
  });
  return url;
}

const insertItems = (rows: number) =>
  `insert into item (title) select 'An item with number ' || n from generate_series(1, ${rows}) n`;

/** Beside the service's table, one with the same columns, constraints, indexes and rows, and without its triggers. */
async function fillItems(client: pg.Client, rows: number) {
  await client.query(insertItems(rows));
  await client.query('create table plain_item (like item including all)');
  await client.query('insert into plain_item overriding system value select * from item');
  await client.query(`select setval(pg_get_serial_sequence('plain_item', 'id'), ${rows})`);
  await client.query('vacuum analyze item, plain_item');
}

async function fillTutorials(client: pg.Client, rows: number) {
  await client.query(`insert into tutorial (title) select ${tutorialTitle} from generate_series(1, ${rows}) n`);
  await client.query('vacuum analyze tutorial');
}

/** The contestants have one pool, and so everything in one database. */
async function copyTutorials(client: pg.Client, rows: number) {
  await client.query('create extension pg_trgm');
  await client.query(`
    create table plain_tutorial (
      id bigint primary key generated always as identity,
      title varchar(255) not null,
      description text not null default '',
      published boolean not null default false
    )`);
  await client.query(`insert into plain_tutorial (title) select ${tutorialTitle} from generate_series(1, ${rows}) n`);
  await client.query('create index plain_tutorial_title on plain_tutorial using gin (title gin_trgm_ops)');
  await client.query('vacuum analyze plain_tutorial');
}

async function on<Result>(url: string, action: (client: pg.Client) => Promise<Result>): Promise<Result> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return await action(client);
  } finally {
    await client.end();
  }
}

/**
 * Waits until the server has finished all statements, because a load ends while requests are in flight and their
 * statements would slow the next contestant.
 * @throws Error when that takes longer than a minute
 */
export async function untilIdle(url: string): Promise<void> {
  const deadline = performance.now() + IDLE_LIMIT_MS;
  await on(url, async (client) => {
    // Between two statements of a queue all connections may look idle for a moment.
    for (let timesIdle = 0; timesIdle < 2;) {
      const { rowCount } = await client.query(
        `select from pg_stat_activity where backend_type = 'client backend' and state <> 'idle' and pid <> pg_backend_pid()`,
      );
      timesIdle = rowCount === 0 ? timesIdle + 1 : 0;
      await sleep(10);
      if (performance.now() > deadline) throw new Error('PostgreSQL is still busy a minute after the load has ended');
    }
  });
}
