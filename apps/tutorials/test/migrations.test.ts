import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { migrate } from '@rest-services/database';
import { createTestDatabase, type TestDatabase } from '@rest-services/local-postgres';
import { openTestConnection, startProcess } from '@rest-services/testing';
import { sql, type Kysely } from 'kysely';
import { migrations } from '../src/database.ts';

// This service has several migrations, and indexes on what may be a large table.

const main = 'dist/main.js';

let database: TestDatabase;
let db: Kysely<unknown>;
beforeEach(async () => {
  database = await createTestDatabase();
  db = openTestConnection(database.url);
});
afterEach(async () => {
  await db.destroy();
  await database.drop();
});

test.each([['`node main.js migrate`', ['migrate']] as const, ['`node main.js`', []] as const])(
  '%s ends with exit code 1 and a log line when a migration fails, and nothing is half-applied',
  async (_, args) => {
    const run = () => startProcess(main, { DATABASE_URL: database.url }, ...args);
    // The name that the second migration gives to an index.
    await sql`create table tutorial_title ()`.execute(db);
    const { ended, log } = run();
    expect(await ended).toEqual({ code: 1, errors: '' });
    expect(log).toEqual([
      expect.objectContaining({
        msg: 'cannot migrate the database',
        err: expect.objectContaining({
          message: 'relation "tutorial_title" already exists',
          migration: '0002_title_search',
        }),
      }),
    ]);
    const { rows } = await sql`select from pg_class where relname = 'tutorial'`.execute(db);
    expect(rows).toEqual([]);
    expect((await sql`select from kysely_migration`.execute(db)).rows).toEqual([]);

    await sql`drop table tutorial_title`.execute(db);
    const repeated = run();
    await repeated.logged(/^database is up to date/);
    repeated.child.kill('SIGTERM');
    await repeated.ended;
  },
);

test('an upgrade builds each index while the release before it writes', async () => {
  const onConnectionError = () => undefined;
  const indexes = async () =>
    (await sql<{ name: string }>`select indexrelid::regclass::text as name from pg_index`.execute(db)).rows.map(
      ({ name }) => name,
    );
  const names = Object.keys(migrations);
  // The first of these releases had no rows yet.
  for (const [index, name] of names.entries()) {
    const before = await indexes();
    await migrate(
      { url: database.url, onConnectionError },
      Object.fromEntries(names.slice(0, index + 1).map((each) => [each, migrations[each]!])),
    );
    const created = (await indexes()).filter((each) => !before.includes(each) && each.startsWith('tutorial_'));
    const isConcurrent = 'createIndexConcurrently' in migrations[name]!;
    if (index >= 3 && created.length > 0) expect([name, isConcurrent]).toEqual([name, true]);
  }
  expect(await indexes()).toContain('tutorial_folded_title');
});
