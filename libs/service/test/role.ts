import { Database } from '@rest-services/database';
import type { TestDatabase } from '@rest-services/local-postgres';
import { sql, type Kysely, type RawBuilder } from 'kysely';

/** @param act what is done with a role that has no rights yet, and with its connection string */
export async function withRole(
  database: TestDatabase,
  act: (db: Kysely<unknown>, role: RawBuilder<unknown>, url: string) => Promise<void>,
) {
  const name = `of_${new URL(database.url).pathname.slice(1)}`;
  const role = sql.id(name);
  const db = new Database({ url: database.url, poolMax: 2, hasTimeouts: false, onConnectionError: () => undefined });
  await sql`create role ${role} login password 'secret'`.execute(db);
  try {
    await act(db, role, Object.assign(new URL(database.url), { username: name, password: 'secret' }).href);
  } finally {
    await sql`drop owned by ${role}`.execute(db);
    await sql`drop role ${role}`.execute(db);
    await db.destroy();
  }
}
