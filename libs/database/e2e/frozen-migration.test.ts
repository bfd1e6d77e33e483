import { EventEmitter, once } from 'node:events';
import { describe, expect, test } from '@jest/globals';
import { sql } from 'kysely';
import { migrate, pendingMigrations, type Migrations } from '../src/index.ts';
import { indexed, released } from '../test/index-creator.ts';
import { db, options, startProgram, until, waitingFor } from '../test/migrating.ts';
import { connectPatiently } from '../test/patient.ts';

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

describe('migrate', () => {
  test('goes on some seconds after the one that holds the lock has fallen silent', async () => {
    const silent = startSilent();
    await silent.hasBegun;
    await migrate(options(), migrations);
    silent.end();
    await expect(silent.migrated).rejects.toThrow();
    expect(await pendingMigrations(db, migrations)).toEqual([]);
  });

  test('goes on some seconds after a process that creates an index is frozen', async () => {
    await migrate(options(), released);
    const patient = connectPatiently(options().url);
    const writer = await patient.startTransaction().execute();
    const { rows: writing } = await sql<{ pid: number }>`
      insert into item values ('Writing') returning pg_backend_pid() as pid`.execute(writer);
    const child = startProgram('index-creator.ts');
    await until(async () => (await waitingFor(writing[0]!.pid)).length > 0);
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
