import { hash } from 'node:crypto';
import { ReusedKeyError } from '@rest-services/errors';
import { sql } from 'kysely';
import type { Database } from '../connection/database.ts';
import { errorClass, SQLSTATE_CLASS } from '../sqlstate.ts';
import { SHARED_MS } from '../time-budget.ts';
import { writeInTurn } from './shared-statement.ts';
import { columnList, prepare } from './statement.ts';
import type { Values, WithId } from './write-statements.ts';

/** A key that a client sends again when it repeats a request, because it does not know the outcome. */
export interface IdempotencyKey {
  key: string;
  /** All that makes the request: another one is refused under the same key. */
  request: string;
}

/** Age from which a key counts as absent. */
const LIFETIME = sql.lit('24 hours');

/**
 * Number of keys next to its own, by digest, of which an insert deletes the expired ones. Expired keys are at most about one eighth of
 * the table then, without an index on their age: its end would fill with dead rows while an old snapshot is open.
 */
const NEIGHBOURS = sql.lit(8);

/**
 * Inserts a row once per key. The key is stored by the statement that inserts the row, so that both are committed or none is. Needs
 * the table of `createIdempotencyKeys`.
 * @returns a function that returns the id of the row, also when the row has been deleted since
 */
export function createInsertOnce<Tables>(db: Database<Tables>, table: string, columns: readonly string[]) {
  const isExpired = sql`created_at <= now() - interval ${LIFETIME}`;
  const given = sql`given as materialized (select ${''}::bytea as key, ${''}::bytea as request)`;
  const stored = sql<WithId & { isSame: boolean }>`
    select row_id as id, request = (select request from given) as "isSame" from idempotency_key
    where key = (select key from given) and not ${isExpired}`;
  const find = prepare(db, sql<WithId & { isSame: boolean }>`with ${given} ${stored}`);
  const insert = prepare(
    db,
    sql<WithId & { isSame: boolean }>`
      with ${given},
      stored as materialized (${stored}),
      near as materialized (
        select key, created_at from idempotency_key where key >= (select key from given) order by key limit ${NEIGHBOURS}
      ),
      deleted as (
        delete from idempotency_key where key = any(array(
          select key from idempotency_key where key = any(array(select key from near where ${isExpired}))
          for update skip locked
        ))
        returning key
      ),
      inserted as (
        insert into ${sql.table(table)} (${columnList(columns)})
        select ${sql.join(columns.map(() => null))} where not exists (select from stored)
        returning id
      ),
      kept as (
        insert into idempotency_key (key, request, row_id)
        -- Counts the deleted keys because its own may be one of them, which has to be deleted first.
        select key, request, id from given, inserted, (select count(*) from deleted) as deleted_first
      )
      select id, true as "isSame" from inserted
      union all
      select id, "isSame" from stored`,
  );

  return async (row: Values, { key, request }: IdempotencyKey) => {
    const digests = [digest(key), digest(request)];
    async function insertOrFind() {
      try {
        return (await insert(...digests, ...columns.map((column) => row[column]))).rows[0]!;
      } catch (error) {
        if (errorClass(error) !== SQLSTATE_CLASS.INTEGRITY_CONSTRAINT_VIOLATION) throw error;
        // The same request, at the same time, may have stored the key, or the unique value of the row.
        const [found] = (await find(...digests)).rows;
        if (!found) throw error;
        return found;
      }
    }
    const { lockWaits } = db;
    const { id, isSame } = await writeInTurn(
      performance.now() + SHARED_MS,
      (work) => lockWaits.run(work),
      insertOrFind,
    );
    if (!isSame) throw new ReusedKeyError();
    return id;
  };
}

/** A digest as PostgreSQL writes bytes. */
const digest = (text: string) => `\\x${hash('sha256', text, 'hex')}`;
