import { execFile, execFileSync } from 'node:child_process';
import { globSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { ensureDatabase, freePort } from '@rest-services/local-postgres';
import { startProcess } from '@rest-services/testing';
import pg from 'pg';
import { asUnprivileged, startProgram, temporaryFolder } from './program.ts';

const main = join(import.meta.dirname, '..', '..', 'apps', 'items', 'dist', 'main.js');
const run = promisify(execFile);

/** The newest PostgreSQL of Debian's, which has pg_dump and a server that it can read. */
const programs = globSync('/usr/lib/postgresql/*/bin').sort().at(-1)!;

let folder: string;
let server: Awaited<ReturnType<typeof startProgram>>;
let serverUrl: string;
let [source, target] = ['', ''];

beforeAll(async () => {
  folder = await temporaryFolder('restore');
  const port = await freePort();
  execFileSync(
    join(programs, 'initdb'),
    ['-D', join(folder, 'data'), '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--locale=C', '-N'],
    asUnprivileged,
  );
  ({ server, url: serverUrl } = await startServer(join(folder, 'data'), port));
});
afterAll(async () => {
  await server.stop();
  await rm(folder, { recursive: true, force: true });
});

async function startServer(data: string, port: number) {
  const settings = [
    'listen_addresses=127.0.0.1',
    'unix_socket_directories=',
    'wal_level=logical',
    'fsync=off',
    'log_min_messages=fatal',
    `port=${port}`,
  ];
  const started = await startProgram(
    join(programs, 'postgres'),
    ['-D', data, ...settings.flatMap((setting) => ['-c', setting])],
    {},
    port,
  );
  const url = `postgres://postgres@127.0.0.1:${port}/postgres`;
  // It listens before it has started up.
  for (let isStarting = true; isStarting;) {
    isStarting = await execute(url, 'select').then(
      () => false,
      (error: unknown) => (error as pg.DatabaseError).code === '57P03',
    );
  }
  return { server: started, url };
}

async function on<Result>(url: string, act: (client: pg.Client) => Promise<Result>) {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return await act(client);
  } finally {
    await client.end();
  }
}

const execute = (url: string, ...statements: string[]) =>
  on(url, async (client) => {
    for (const statement of statements) await client.query(statement);
  });

/** Runs a command of the service on a database, and returns its log. */
async function command(url: string, name: string) {
  const service = startProcess(main, { DATABASE_URL: url }, name);
  expect(await service.ended).toEqual({ code: 0, errors: '' });
  return service.log;
}

const OFFSETS = '{0, 511, 20000, 29999, 42000}';

/** Totals and positions by the counts, and by the rows. */
const compare = (url: string) =>
  on(url, async (client) => {
    const { rows } = await client.query<{ counted: string; present: string }>(
      `select
        (select array[total, finished]::text from item_count)
          || (select array_agg(item_id_at(place)) from unnest($1::int[]) as place)::text as counted,
        (select array[count(*), count(*) filter (where status = 'Finished')]::text from item)
          || (select array_agg((select id from item order by id offset place limit 1)) from unnest($1::int[]) as place)::text
          as present`,
      [OFFSETS],
    );
    return rows[0]!;
  });

async function expectExact(url: string) {
  const { counted, present } = await compare(url);
  expect(counted).toEqual(present);
}

async function expectInexact(url: string) {
  const { counted, present } = await compare(url);
  expect(counted).not.toEqual(present);
}

beforeEach(async () => {
  source = await ensureDatabase(serverUrl, 'source');
  target = await ensureDatabase(serverUrl, 'target');
  await command(source, 'migrate');
  // Rows whose changes are folded, and rows whose changes are not.
  const insert = `insert into item (title, status)
    select 'An item', case when n % 3 = 0 then 'Finished' else 'Doing' end from generate_series(1, 30000) n`;
  await execute(source, insert, 'delete from item where id % 7 = 0', 'select item_count_fold()', insert);
});
afterEach(() => execute(serverUrl, 'drop database source with (force)', 'drop database target with (force)'));

const dump = (...args: string[]) => run(join(programs, 'pg_dump'), [...args, '-f', join(folder, 'dump'), source]);
const restore = (...args: string[]) => run(join(programs, 'pg_restore'), [...args, '-d', target, join(folder, 'dump')]);

afterEach(() => rm(join(folder, 'dump'), { recursive: true, force: true }));

test('A dump in plain SQL has the counts', async () => {
  await dump();
  await run(join(programs, 'psql'), ['-v', 'ON_ERROR_STOP=1', '-q', '-f', join(folder, 'dump'), target]);
  await expectExact(target);
  await execute(target, `insert into item (title) values ('Another item')`, 'select item_count_fold()');
  await expectExact(target);
});

test.each([
  ['custom format', ['-Fc'], []],
  ['directory format, by several jobs', ['-Fd'], ['-j', '3']],
  ['custom format, in one transaction', ['-Fc'], ['--single-transaction']],
])('A dump in %s has the counts', async (_, dumping, restoring) => {
  await dump(...dumping);
  await restore(...restoring);
  await expectExact(target);
  expect(await command(target, 'migrate')).not.toContainEqual(expect.objectContaining({ level: 50 }));
});

test.each(['has never served', 'has served'])(
  'A dump of the data without the counts can be restored into a database that %s, and recount makes them',
  async (state) => {
    await command(target, 'migrate');
    if (state === 'has served')
      for (let turn = 0; turn < 3; turn += 1)
        await execute(
          target,
          `insert into item (title) values ('Earlier')`,
          'select item_count_fold()',
          'delete from item',
          'select item_count_fold()',
        );
    await dump('-Fc', '--data-only', '--exclude-table=kysely_migration*', '--exclude-table=item_count_*');
    await restore('--disable-triggers');
    await command(target, 'recount');
    await expectExact(target);
    await execute(target, `insert into item (title) values ('Another item')`, 'select item_count_fold()');
    await expectExact(target);
  },
);

test.each([
  ['of the data alone, with triggers on', ['--data-only', '--exclude-table=kysely_migration*'], []],
  ['of the items alone, with triggers off', ['--data-only', '--table=item'], ['--disable-triggers']],
  [
    'of all tables but those of the counts',
    ['--data-only', '--exclude-table=kysely_migration*', '--exclude-table=item_count_*'],
    ['--disable-triggers'],
  ],
])('After a dump %s, migrate reports the counts, and recount mends them', async (_, dumping, restoring) => {
  await command(target, 'migrate');
  await dump('-Fc', ...dumping);
  await restore(...restoring);
  await expectInexact(target);
  expect(await command(target, 'migrate')).toContainEqual(
    expect.objectContaining({ level: 50, table: 'item', msg: expect.stringMatching(/^Row counts differ/) }),
  );
  expect(await command(target, 'recount')).toContainEqual(
    expect.objectContaining({ table: 'item', ms: expect.any(Number), msg: 'Rows counted' }),
  );
  await expectExact(target);
  expect(await command(target, 'migrate')).not.toContainEqual(expect.objectContaining({ level: 50 }));
});

test('A base backup that is taken during writes has the counts', async () => {
  const copy = join(folder, 'copy');
  const backup = run(
    join(programs, 'pg_basebackup'),
    ['-D', copy, '-d', serverUrl, '-X', 'stream', '-c', 'fast'],
    asUnprivileged,
  );
  const states = { isTaken: false };
  const taken = backup.finally(() => (states.isTaken = true));
  do await execute(source, `insert into item (title) select 'Meanwhile' from generate_series(1, 100)`);
  while (!states.isTaken);
  await taken;
  const restored = await startServer(copy, await freePort());
  const url = restored.url.replace(/postgres$/, 'source');
  await expectExact(url);
  expect(await command(url, 'migrate')).not.toContainEqual(expect.objectContaining({ level: 50 }));
  await restored.server.stop();
});

test('A promoted logical subscriber has the counts after its sequence is set and recount has run', async () => {
  await command(target, 'migrate');
  const { port } = new URL(serverUrl);
  await execute(
    source,
    'create publication items for table item',
    `select pg_create_logical_replication_slot('items', 'pgoutput')`,
  );
  // A subscription to its own server has to use a slot that exists.
  await execute(
    target,
    `create subscription items connection 'host=127.0.0.1 port=${port} user=postgres dbname=source' publication items with (create_slot = false)`,
  );
  await on(target, async (client) => {
    const isCopied = async () =>
      (await client.query(`select from pg_subscription_rel where srsubstate <> 'r'`)).rowCount === 0;
    while (!(await isCopied()));
  });
  await execute(source, 'delete from item where id % 5 = 0', `update item set status = 'Finished' where id % 11 = 0`);
  await on(source, async (client) => {
    const { rows } = await client.query<{ lsn: string }>('select pg_current_wal_lsn() as lsn');
    const isCaughtUp = async () =>
      (
        await client.query(`select from pg_replication_slots where slot_name = 'items' and confirmed_flush_lsn >= $1`, [
          rows[0]!.lsn,
        ])
      ).rowCount === 1;
    while (!(await isCaughtUp()));
  });
  await execute(
    target,
    'alter subscription items disable',
    'alter subscription items set (slot_name = none)',
    'drop subscription items',
  );
  await execute(source, `select pg_drop_replication_slot('items')`);

  await execute(target, `select setval(pg_get_serial_sequence('item', 'id'), (select max(id) from item))`);
  await expectInexact(target);
  await command(target, 'recount');
  await expectExact(target);
  await execute(target, `insert into item (title) values ('Another item')`, 'select item_count_fold()');
  await expectExact(target);
});
