import { sql, type QueryExecutorProvider } from 'kysely';

/** For migrations: creates the table of idempotency keys, one for all repositories of a service. */
export async function createIdempotencyKeys(db: QueryExecutorProvider) {
  // Digests, so that all keys have one size.
  await sql`
    create table idempotency_key (
      key bytea primary key,
      request bytea not null,
      row_id bigint not null,
      created_at timestamptz not null default now()
    )`.execute(db);
}
