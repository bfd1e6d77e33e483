import type { TestDatabase } from '@rest-services/local-postgres';
import { sql, type Kysely, type RawBuilder } from 'kysely';
import { openTestConnection } from './open-test-connection.ts';

/** Runs `act` with a role that has no rights yet, and with its connection string. */
export async function withRole(
  database: TestDatabase,
  act: (db: Kysely<unknown>, role: RawBuilder<unknown>, url: string) => Promise<void>,
) {
  const name = `of_${new URL(database.url).pathname.slice(1)}`;
  const role = sql.id(name);
  const db = openTestConnection<unknown>(database.url);
  await sql`create role ${role} login password 'secret'`.execute(db);
  try {
    await act(db, role, Object.assign(new URL(database.url), { username: name, password: 'secret' }).href);
  } finally {
    await sql`drop owned by ${role}`.execute(db);
    await sql`drop role ${role}`.execute(db);
    await db.destroy();
  }
}
