import { execFile } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { ensureDatabase, startCluster, type Cluster } from '@rest-services/local-postgres';
import pg from 'pg';
import type { Benchmark } from './measure.ts';
import { tutorialTitle, type Rows } from './scenarios.ts';
import { mainOf } from './servers.ts';

/** Maximum time in which a server finishes the statements of a load. */
const IDLE_LIMIT_MS = 60_000;

export interface Databases {
  cluster: Cluster;
  /** The services' own databases. That of items has the tables of the baselines too. */
  items: string;
  tutorials: string;
}

/** Starts a server of the benchmark's own, migrates the databases with the built services, and fills them. */
export async function prepareDatabases({ directory, stopAtEnd }: Benchmark, rows: Rows): Promise<Databases> {
  // Holds all tables: with the default of 128 MB, each contestant's reads would evict those of the next one.
  const cluster = await startWith(directory, `alter system set shared_buffers = '512MB'`);
  stopAtEnd(() => cluster.stop());
  const items = await prepareItems(cluster, rows.items);
  const tutorials = await migrated(cluster, 'tutorials');
  const fill = (table: string) =>
    `insert into ${table} (title) select ${tutorialTitle} from generate_series(1, ${rows.tutorials}) n`;
  await execute(tutorials, fill('tutorial'), 'vacuum analyze tutorial');
  await execute(
    items,
    // The columns, constraints, indexes and rows of the service's table, without its triggers.
    'create table plain_item (like item including all)',
    'insert into plain_item overriding system value select * from item',
    `select setval(pg_get_serial_sequence('plain_item', 'id'), ${rows.items})`,
    'create extension pg_trgm',
    `create table plain_tutorial (
      id bigint primary key generated always as identity,
      title varchar(255) not null,
      description text not null default '',
      published boolean not null default false
    )`,
    fill('plain_tutorial'),
    'create index plain_tutorial_title on plain_tutorial using gin (title gin_trgm_ops)',
    'vacuum analyze plain_item, plain_tutorial',
    // Without it, the server would write all of them to disk during the first measurements.
    'checkpoint',
  );
  return { cluster, items, tutorials };
}

async function startWith(directory: string, setting: string) {
  const cluster = await startCluster(directory, { durable: true });
  await execute(cluster.url, setting);
  await cluster.stop();
  return startCluster(directory, { durable: true });
}

/**
 * Makes a database of the items service with this number of items. Loads them without triggers, which takes half the time, and has
 * the service count them then.
 * @throws Error when the service counts another number
 */
export async function prepareItems(cluster: Cluster, rows: number): Promise<string> {
  const url = await migrated(cluster, 'items', `items_${rows}`);
  await execute(
    url,
    'alter table item disable trigger user',
    `insert into item (title) select 'An item with number ' || n from generate_series(1, ${rows}) n`,
    'alter table item enable trigger user',
    'vacuum analyze item',
  );
  await runCommand('items', 'recount', url);
  const { total } = (await execute(url, 'checkpoint', 'select total from item_count')) as { total: string };
  if (Number(total) !== rows) throw new Error(`The items service counts ${total} items, not ${rows}`);
  return url;
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

/** Executes statements in sequence. @returns the first row of the last one */
const execute = (url: string, ...statements: string[]) =>
  withClient(url, async (client) => {
    let row: unknown;
    for (const statement of statements) row = (await client.query<object>(statement)).rows[0];
    return row;
  });

async function withClient<Result>(url: string, use: (client: pg.Client) => Promise<Result>): Promise<Result> {
  const client = new pg.Client({ connectionString: url });
  // Without a listener, the end of the server would end the process; the statement in flight reports it.
  client.on('error', () => undefined);
  await client.connect();
  try {
    return await use(client);
  } finally {
    await client.end();
  }
}

/**
 * The version of the server.
 * @throws Error when it does not write commits to disk
 */
export async function durableVersion(url: string): Promise<string> {
  const settings = `select current_setting('server_version') as version, current_setting('fsync') as fsync,
    current_setting('synchronous_commit') as commit`;
  const { version, fsync, commit } = (await execute(url, settings)) as Record<string, string>;
  if (fsync !== 'on' || commit !== 'on') throw new Error('Commits are not written to disk');
  return version!;
}

/**
 * Waits until the server has finished all statements, because a load ends while requests are in flight and their
 * statements would slow the next contestant.
 * @throws Error when that takes longer than a minute
 */
export async function untilIdle(url: string): Promise<void> {
  const deadline = performance.now() + IDLE_LIMIT_MS;
  await withClient(url, async (client) => {
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
