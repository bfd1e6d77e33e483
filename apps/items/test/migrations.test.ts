import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Database, migrate } from '@rest-services/database';
import { createTestDatabase, type TestDatabase } from '@rest-services/local-postgres';
import { sql } from 'kysely';
import { migrations, type ItemsDatabase } from '../src/database.ts';

let database: TestDatabase;
let db: Database<ItemsDatabase>;
const options = () => ({ url: database.url, onConnectionError: () => undefined });

beforeAll(async () => {
  database = await createTestDatabase();
  db = new Database({ ...options(), poolMax: 1 });
});
afterAll(async () => {
  await db.destroy();
  await database.drop();
});

test('Items that an older release has stored are counted, and so is what it stores afterwards', async () => {
  await migrate(options(), { '0001_item': migrations['0001_item']! });
  const fill = () =>
    sql`insert into item (title, status)
      select 'item', case when n % 4 = 0 then 'Finished' else 'Doing' end from generate_series(1, 1000) n`.execute(db);
  await fill();
  await migrate(options(), migrations);
  const summary = () => db.kysely.selectFrom('item_count').select(['finished', 'total']).executeTakeFirst();
  expect(await summary()).toEqual({ finished: 250, total: 1_000 });
  await fill();
  expect(await summary()).toEqual({ finished: 500, total: 2_000 });
});
