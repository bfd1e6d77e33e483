import { execFileSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, expect, test } from '@jest/globals';
import { freePort } from '@rest-services/local-postgres';
import { startProcess } from '@rest-services/testing';
import { asUnprivileged, block, install, main, temporaryFolder } from './program.ts';

// Types the lines of docker/operate.md that back up and restore, on a server of Debian's newest PostgreSQL.
install('postgresql');

const programs = globSync('/usr/lib/postgresql/*/bin').sort().at(-1)!;

const folder = await temporaryFolder('restore');
const port = `${await freePort()}`;
const env: NodeJS.ProcessEnv = {
  ...{ PATH: `${programs}:${process.env.PATH}`, PGHOST: '127.0.0.1', PGPORT: port, PGUSER: 'postgres' },
  ...{ SOURCE: `postgres://postgres@127.0.0.1:${port}/source`, TARGET: `postgres://postgres@127.0.0.1:${port}/target` },
};

/** Runs lines in the folder, in which /backup and /restored are. */
const sh = (script: string) =>
  execFileSync('sh', ['-ec', script.replaceAll(/\/(backup|restored)\b/g, `${folder}/$1`)], {
    ...{ ...asUnprivileged, cwd: folder, env, encoding: 'utf8' },
  });

sh(`mkdir -p /backup/wal
  initdb --pgdata=data --username=postgres --auth=trust --encoding=UTF8 --locale=C --no-sync
  echo "unix_socket_directories = ''" >> data/postgresql.conf
  pg_ctl --pgdata=data --log=log start`);
afterAll(async () => {
  for (const data of ['data', 'restored']) sh(`pg_ctl --pgdata=${data} --mode=immediate stop 2> log.stop || true`);
  await rm(folder, { recursive: true, force: true });
});

type Name = 'source' | 'target';

const execute = (database: Name, ...statements: string[]) =>
  sh(
    `psql --quiet --no-align --tuples-only --set=ON_ERROR_STOP=1 "$${database.toUpperCase()}" <<'END'\n${statements.join(';\n')};\nEND`,
  ).trim();

/** Runs a command of the service. */
async function command(database: Name, name: 'migrate' | 'recount') {
  const service = startProcess(main, { DATABASE_URL: env[database.toUpperCase()] }, name);
  expect(await service.ended).toEqual({ code: 0, errors: '' });
}

const ADD = `insert into item (title, status)
  select 'An item', case when n % 3 = 0 then 'Finished' else 'Doing' end from generate_series(1, 30000) n`;

beforeEach(async () => {
  sh('createdb source; createdb target');
  await command('source', 'migrate');
  // Some changes are folded, and some are not.
  execute('source', ADD, 'delete from item where id % 7 = 0', 'select item_count_fold()', ADD);
});
afterEach(() => void sh('dropdb --force source; dropdb --force target'));

/** Whether totals and positions by the counts are those of the rows. */
const isExact = (database: Name) =>
  execute(
    database,
    `select array[total, finished] = (select array[count(*), count(*) filter (where status = 'Finished')] from item)
       and (select array_agg(item_id_at(place)) = array_agg((select id from item order by id offset place limit 1))
            from unnest('{0, 511, 20000, 29999, 42000}'::int[]) as place)
     from item_count`,
  ) === 't';

/** Expects exact counts, now and after further changes. */
function expectExact(database: Name) {
  expect(isExact(database)).toBe(true);
  execute(database, `insert into item (title) values ('Another item')`, 'select item_count_fold()');
  expect(isExact(database)).toBe(true);
}

test('A dump keeps the row counts', () => {
  const [dump, restore] = block('operate.md', 'sh\ndocker compose exec -T postgres pg_dump')
    .replaceAll(/docker compose exec -T postgres (\\\n)?/g, '')
    .split(/^docker compose .*\n/m);
  sh(dump!.replace(' items ', ' source '));
  sh(restore!.replace('--dbname=items', '--dbname=target'));
  expectExact('target');
});

test('After a dump of the data alone, recount counts rows, also where others had been', async () => {
  await command('target', 'migrate');
  execute('target', `insert into item (title) values ('Earlier')`, 'select item_count_fold()', 'delete from item');
  sh(block('operate.md', 'sh\npg_dump').replace('$OLD_URL', '$SOURCE').replace('$NEW_URL', '$TARGET'));
  expect(isExact('target')).toBe(false);
  await command('target', 'recount');
  expectExact('target');
});

test('A server comes back as it was at a point in time, with the row counts', () => {
  const [archiving, backup] = block('operate.md', 'sh\npsql --command="alter system').split(/^(?=pg_basebackup)/m);
  sh(archiving!);
  sh('pg_ctl --pgdata=data --log=log restart');
  sh(backup!);
  execute('source', ADD);
  const time = execute('source', 'select now()');
  const count = execute('source', 'select count(*) from item');
  execute('source', 'delete from item', 'select pg_switch_wal()');
  sh('pg_ctl --pgdata=data stop');
  sh(block('operate.md', 'sh\ncp -a /backup/base').replace('2026-01-31 12:00:00+00', time));
  while (execute('source', 'select pg_is_in_recovery()') !== 'f');
  expect(execute('source', 'select count(*) from item')).toBe(count);
  expectExact('source');
  expect(readFileSync(join(folder, 'restored/log'), 'utf8')).toContain('recovery stopping before commit');
});
