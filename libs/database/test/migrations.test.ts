import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { createTestDatabase, type TestDatabase } from '@rest-services/local-postgres';
import { sql } from 'kysely';
import { migrate, openDatabase, pendingMigrations, type Migrations } from '../src/index.ts';

const first: Migrations = { '0001_a': { up: (db) => db.schema.createTable('a').addColumn('id', 'integer').execute() } };
const second: Migrations = {
  ...first,
  '0002_b': { up: (db) => db.schema.createTable('b').addColumn('id', 'integer').execute() },
};

let database: TestDatabase;
let db: ReturnType<typeof openDatabase<Record<string, never>>>;
const options = () => ({ url: database.url, onConnectionError: () => undefined });

beforeEach(async () => {
  database = await createTestDatabase();
  db = openDatabase({ ...options(), poolMax: 1 });
});
afterEach(async () => {
  await db.destroy();
  await database.drop();
});

async function tables() {
  const { rows } = await sql<{ name: string }>`
    select tablename as name from pg_tables where schemaname = 'public' and tablename not like 'kysely%' order by 1`.execute(
    db,
  );
  return rows.map(({ name }) => name);
}

describe('migrate', () => {
  test('brings an empty database up to date, and an older one', async () => {
    expect(await pendingMigrations(db, second)).toEqual(['0001_a', '0002_b']);
    await migrate(options(), first);
    expect(await pendingMigrations(db, second)).toEqual(['0002_b']);
    await migrate(options(), second);
    expect(await pendingMigrations(db, second)).toEqual([]);
    expect(await tables()).toEqual(['a', 'b']);
  });

  test('runs each migration once when eight processes start at the same moment', async () => {
    await Promise.all(Array.from({ length: 8 }, () => migrate(options(), second)));
    expect(await tables()).toEqual(['a', 'b']);
  });

  test('takes longer than a request may, if it has to', async () => {
    const slow: Migrations = {
      '0001_slow': { up: (db) => sql`select pg_sleep(1.6)`.execute(db).then(() => undefined) },
    };
    await migrate(options(), slow);
    expect(await pendingMigrations(db, slow)).toEqual([]);
  });

  test('goes on when the process that holds the lock is killed in the middle of a migration', async () => {
    const holder = spawn(process.execPath, [join(import.meta.dirname, 'holder.ts'), database.url], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    await once(holder.stdout, 'data');
    const waiting = migrate(options(), second);
    holder.kill('SIGKILL');
    await waiting;
    expect(await tables()).toEqual(['a', 'b']);
  });

  test('leaves a database alone that a newer release has migrated', async () => {
    await migrate(options(), second);
    await migrate(options(), first);
    expect(await pendingMigrations(db, first)).toEqual([]);
    expect(await tables()).toEqual(['a', 'b']);
  });

  test('rolls everything back when one migration fails', async () => {
    const broken: Migrations = { ...second, '0003_c': { up: () => Promise.reject(new Error('no')) } };
    await expect(migrate(options(), broken)).rejects.toThrow('no');
    expect(await tables()).toEqual([]);
    await migrate(options(), second);
    expect(await tables()).toEqual(['a', 'b']);
  });
});
