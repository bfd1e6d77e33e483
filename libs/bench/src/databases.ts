import { execFile } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { ensureDatabase, startCluster, withClient } from '@rest-services/local-postgres';
import { tutorialTitle, type Rows, type Scenario } from './scenarios.ts';

/** Maximum time in which a server finishes the statements of a load. */
const IDLE_LIMIT_MS = 60_000;

/** A path or connection string for each service. */
export type ByService = Record<Scenario['service'], string>;

/** Starts a server of the benchmark's own. Its buffers hold all tables: with 128 MB, each contestant would evict those of the next. */
export async function startServerOfTables(stack: AsyncDisposableStack, directory: string) {
  const first = await startCluster(directory, { durable: true });
  await execute(first.url, `alter system set shared_buffers = '512MB'`);
  await first.stop();
  const cluster = await startCluster(directory, { durable: true });
  stack.defer(() => cluster.stop());
  return cluster;
}

/**
 * Migrates databases with the built services of a checkout, and fills them: loads items without triggers, which takes half the time, and
 * has the service count them then.
 * @param mains paths of the services' bundles
 * @param checkout its name in those of the databases
 */
export async function prepareDatabases(
  url: string,
  checkout: string,
  mains: ByService,
  rows: Rows,
): Promise<ByService> {
  const migrated = async (service: Scenario['service']) => {
    const database = await ensureDatabase(url, `${service}_${checkout}`);
    await runCommand(mains[service], 'migrate', database);
    return database;
  };
  const [items, tutorials] = [await migrated('items'), await migrated('tutorials')];
  await execute(
    items,
    'alter table item disable trigger user',
    `insert into item (title) select 'An item with number ' || n from generate_series(1, ${rows.items}) n`,
    'alter table item enable trigger user',
    'vacuum analyze item',
  );
  await runCommand(mains.items, 'recount', items);
  await execute(tutorials, insertTutorials('tutorial', rows), 'vacuum analyze tutorial');
  return { items, tutorials };
}

/** Makes the tables of the baselines beside those of the items service. */
export const prepareBaselines = (items: string, rows: Rows) =>
  execute(
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
    insertTutorials('plain_tutorial', rows),
    'create index plain_tutorial_title on plain_tutorial using gin (title gin_trgm_ops)',
    'vacuum analyze plain_item, plain_tutorial',
  );

const insertTutorials = (table: string, { tutorials }: Rows) =>
  `insert into ${table} (title) select ${tutorialTitle} from generate_series(1, ${tutorials}) n`;

async function runCommand(main: string, command: 'migrate' | 'recount', url: string) {
  const env = { PATH: process.env.PATH, NODE_ENV: 'production', DATABASE_URL: url };
  await promisify(execFile)(process.execPath, [main, command], { env });
}

/** Executes statements in sequence. @returns the rows of the last one */
export const execute = (url: string, ...statements: string[]) =>
  withClient(url, async (client) => {
    let rows: Record<string, string>[] = [];
    for (const statement of statements) ({ rows } = await client.query<Record<string, string>>(statement));
    return rows;
  });

/**
 * Waits until the server has finished all statements, because a load ends while requests are in flight and their
 * statements would slow the next contestant.
 * @throws Error when that takes longer than a minute
 */
export async function untilIdle(url: string): Promise<void> {
  const deadline = performance.now() + IDLE_LIMIT_MS;
  const busy = `select from pg_stat_activity
    where backend_type = 'client backend' and state <> 'idle' and pid <> pg_backend_pid()`;
  // Between two statements of a queue all connections may look idle for a moment.
  for (let timesIdle = 0; timesIdle < 2;) {
    const { length } = await execute(url, busy);
    timesIdle = length === 0 ? timesIdle + 1 : 0;
    await sleep(10);
    if (performance.now() > deadline) throw new Error('PostgreSQL is still busy a minute after the load has ended');
  }
}
