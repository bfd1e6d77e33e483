import { execFileSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { freePort } from '@rest-services/local-postgres';
import { asUnprivileged, temporaryFolder } from './program.ts';

const page = readFileSync(join(import.meta.dirname, '../../docker/operate.md'), 'utf8');
const programs = globSync('/usr/lib/postgresql/*/bin').sort().at(-1)!;

/** The block of docker/operate.md that begins so. */
const block = (start: string) =>
  page
    .split('```sh\n')
    .find((text) => text.startsWith(start))!
    .split('```')[0]!;

test('the lines of docker/operate.md bring a server back as it was at a point in time', async () => {
  const folder = await temporaryFolder('point-in-time');
  const env = {
    PATH: `${programs}:${process.env.PATH}`,
    PGHOST: '127.0.0.1',
    PGPORT: `${await freePort()}`,
    PGUSER: 'postgres',
  };
  const run = (script: string) =>
    execFileSync('sh', ['-ec', script.replaceAll(/\/(backup|restored)\b/g, `${folder}/$1`)], {
      ...{ ...asUnprivileged, cwd: folder, env, encoding: 'utf8' },
    });
  try {
    run(`mkdir -p /backup/wal
      initdb --pgdata=data --username=postgres --auth=trust --no-sync
      echo "unix_socket_directories = ''" >> data/postgresql.conf
      pg_ctl --pgdata=data --log=log start`);
    const [archiving, backup] = block('psql --command="alter system set archive_mode').split(/^(?=pg_basebackup)/m);
    run(archiving!);
    run('pg_ctl --pgdata=data --log=log restart');
    run(backup!);
    run(`psql --command="create table note as select 'before' as text"`);
    const time = run('psql --no-align --tuples-only --command="select now()"').trim();
    run(`psql --command="insert into note values ('after')" --command="select pg_switch_wal()"
      pg_ctl --pgdata=data stop`);
    run(block('cp -a /backup/base').replace('2026-01-31 12:00:00+00', time));
    expect(run('psql --no-align --tuples-only --command="select text from note"')).toBe('before\n');
    expect(readFileSync(join(folder, 'restored/log'), 'utf8')).toContain('recovery stopping before commit');
  } finally {
    for (const data of ['data', 'restored']) run(`pg_ctl --pgdata=${data} --mode=immediate stop 2> log.stop || true`);
    await rm(folder, { recursive: true, force: true });
  }
});
