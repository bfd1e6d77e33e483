import { EventEmitter, once } from 'node:events';
import { describe, expect, test } from '@jest/globals';
import { sql } from 'kysely';
import { Database, migrate, pendingMigrations, type Migrations } from '../src/index.ts';
import { indexed, released } from '../test/index-creator.ts';
import { db, options, startProgram } from '../test/migrating.ts';

// Processes that stop in the middle of a migration without ending: the server ends their sessions after some seconds.

const migrations: Migrations = {
  '0001_a': { up: (db) => db.schema.createTable('a').addColumn('id', 'integer').execute() },
};

/** A migration that asks nothing of the database until its end. */
function startSilent() {
  const silence = new EventEmitter();
  const hasBegun = once(silence, 'begun');
  const up = async () => {
    silence.emit('begun');
    await once(silence, 'over');
  };
  return { migrated: migrate(options(), { '0000_silent': { up } }), hasBegun, end: () => silence.emit('over') };
}

async function someoneWaits(lock: string) {
  const waiting = sql`select from pg_locks where not granted and locktype = ${lock}
    and database in (0, (select oid from pg_database where datname = current_database()))`;
  while ((await waiting.execute(db)).rows.length === 0);
}

describe('migrate', () => {
  test('goes on some seconds after the one that holds the lock has fallen silent', async () => {
    const silent = startSilent();
    await silent.hasBegun;
    await migrate(options(), migrations);
    silent.end();
    await expect(silent.migrated).rejects.toThrow();
    expect(await pendingMigrations(db, migrations)).toEqual([]);
  });

  test('goes on some seconds after a process that waited for the lock has been given it, frozen', async () => {
    const silent = startSilent();
    await silent.hasBegun;
    const child = startProgram('holder.ts');
    await someoneWaits('advisory');
    child.kill('SIGSTOP');
    silent.end();
    await silent.migrated;
    await migrate(options(), migrations);
    child.kill('SIGKILL');
    expect(await pendingMigrations(db, migrations)).toEqual([]);
  });

  test('goes on some seconds after a process that creates an index is frozen', async () => {
    await migrate(options(), released);
    const patient = new Database<Record<string, never>>({ ...options(), poolMax: 1, purpose: 'migrations' });
    const writer = await patient.kysely.startTransaction().execute();
    await sql`insert into item values ('Writing')`.execute(writer);
    const child = startProgram('index-creator.ts');
    await once(child.stdout, 'data');
    child.kill('SIGSTOP');
    await writer.commit().execute();
    await patient.destroy();
    await migrate(options(), indexed);
    child.kill('SIGKILL');
    const { rows } = await sql`select from pg_index where indisvalid and indexrelid = 'item_status'::regclass`.execute(
      db,
    );
    expect(rows).toHaveLength(1);
  });
});
