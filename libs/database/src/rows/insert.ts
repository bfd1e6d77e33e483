import { hash } from 'node:crypto';
import { ReusedKeyError } from '@rest-services/errors';
import { sql, type RawBuilder } from 'kysely';
import type { Database } from '../connection/database.ts';
import { errorClass, SQLSTATE_CLASS } from '../sqlstate.ts';
import { SHARED_MS } from '../time-budget.ts';
import { isLarge } from './batched-write.ts';
import { MAX_WRITES, shareStatements, writeInTurn } from './shared-statement.ts';
import { columnList, parameter, prepare } from './statement.ts';
import { shortLockTimeout, type Values, type WithId } from './write-statements.ts';

/** A key that a client sends again when it repeats a request, because it does not know the outcome. */
export interface IdempotencyKey {
  key: string;
  /** All that makes the request: another one is refused under the same key. */
  request: string;
}

/** A row to insert, once per key where it has one. */
interface Insertion {
  row: Values;
  once: IdempotencyKey | undefined;
}

interface Outcome extends WithId {
  /** `false` when the key belongs to another request. */
  isSame: boolean;
  /** Expired keys are next to those of the statement. */
  hasExpired?: boolean;
}

/** Age from which a key counts as absent. */
const isExpired = sql`created_at <= now() - interval '24 hours'`;

/**
 * Number of keys next to each of its own, by digest, of which an insert has the expired ones deleted. Expired keys are at most about one
 * eighth of the table then, without an index on their age: its end would fill with dead rows while an old snapshot is open.
 */
const NEIGHBOURS = sql.lit(8);

/**
 * Makes the function that inserts rows. Calls at the same time share a statement, with and without keys. A key is stored by the
 * statement that inserts its row, so that both are committed or none is; this needs the table of `createIdempotencyKeys`.
 * @returns a function that returns the id of the row, also when the row of the key has been deleted since, and throws a
 * ReusedKeyError when the key belongs to another request
 */
export function createInsert<Tables>(db: Database<Tables>, table: string, columns: readonly string[]) {
  const insertOne = prepare(
    db,
    sql<WithId>`insert into ${sql.table(table)} (${columnList(columns)})
      select ${columnList(columns)} from json_populate_record(null::${sql.table(table)}, ${''}) returning id`,
  );
  const insertMany = prepare(db, manyStatement(table, columns));
  const insertOnce = prepare(db, onceStatement(table, columns));
  const findOnce = prepare(
    db,
    sql<Outcome>`select row_id as id, request = ${parameter('bytea')} as "isSame" from idempotency_key
      where key = ${parameter('bytea')} and not ${isExpired}`,
  );
  const deleteExpired = prepare(
    db,
    sql`delete from idempotency_key where key = any(array(
      select key from idempotency_key
      where key = any(array(select near_key from ${nearKeys(sql`unnest(${parameter('bytea[]')}) as own (key)`)} where ${isExpired}))
      for update skip locked
    ))`,
  );

  async function insertAll(insertions: readonly Insertion[]): Promise<Outcome[]> {
    const rows = JSON.stringify(insertions.map(({ row }) => row));
    if (insertions.every(({ once }) => once === undefined)) {
      return (await insertMany(rows)).rows.map(({ id }) => ({ id, isSame: true }));
    }
    const keys = digests(insertions.map(({ once }) => once?.key));
    const outcomes = (await insertOnce(rows, keys, digests(insertions.map(({ once }) => once?.request)))).rows;
    // Not by the statement above, which would wait for the keys of others. What it leaves is deleted after a later insert.
    if (outcomes[0]!.hasExpired) void deleteExpired(keys).catch(() => undefined);
    return outcomes;
  }

  async function insertAlone({ row, once }: Insertion): Promise<Outcome> {
    try {
      if (once) return (await insertAll([{ row, once }]))[0]!;
      return { id: (await insertOne(JSON.stringify(row))).rows[0]!.id, isSame: true };
    } catch (error) {
      if (errorClass(error) !== SQLSTATE_CLASS.INTEGRITY_CONSTRAINT_VIOLATION) throw error;
      // The same request, at the same time, may have stored the key, or the unique value of the row.
      const [found] = once ? (await findOnce(digest(once.request), digest(once.key))).rows : [];
      if (found) return found;
      throw isOfPrimaryKey(error) ? sequenceBehind(table, error) : error;
    }
  }

  const isOfPrimaryKey = (error: unknown) => (error as { constraint?: string }).constraint === `${table}_pkey`;

  const { lockWaits } = db;
  const insertInTurn = (insertion: Insertion, deadline = performance.now() + SHARED_MS) =>
    writeInTurn(
      deadline,
      (work) => lockWaits.run(work),
      () => insertAlone(insertion),
    );
  const insertShared = shareStatements<Insertion, Outcome>(
    db,
    async (insertions) =>
      insertions.length === 1 && !lockWaits.isFull
        ? [await lockWaits.run(() => insertAlone(insertions[0]!))]
        : insertAll(insertions),
    MAX_WRITES,
    insertInTurn,
  );

  return async (row: Values, once?: IdempotencyKey) => {
    const { id, isSame } = await (isLarge(row) ? insertInTurn({ row, once }) : insertShared({ row, once }));
    if (!isSame) throw new ReusedKeyError();
    return id;
  };
}

/**
 * Inserts the rows of a JSON array, and returns an id for each, in their order. All statements insert in one order, that of the values:
 * two of them with the same unique values the other way round would wait for each other. PostgreSQL assigns the ids in the order in
 * which it inserts, so the position of an id among the new ones tells its row.
 */
function manyStatement(table: string, columns: readonly string[]) {
  return sql<WithId>`
    with ${shortLockTimeout},
    given as materialized (
      select ordinality, ${inOrder(columns)}, ${columnList(columns)}
      from json_populate_recordset(null::${sql.table(table)}, ${''}) with ordinality, short_lock_timeout
    ),
    ${insertedRows(table, columns, 'given')}
    select id from given join numbered using (number) order by ordinality`;
}

/** As `manyStatement`, for rows of which some have a key: takes the digests of keys and requests as well, null for a row without key. */
function onceStatement(table: string, columns: readonly string[]) {
  return sql<Outcome>`
    with ${shortLockTimeout},
    given as materialized (
      select *, min(ordinality) over (partition by key, case when key is null then ordinality end) as first
      from json_populate_recordset(null::${sql.table(table)}, ${''}) with ordinality
      join unnest(${parameter('bytea[]')}, ${parameter('bytea[]')}) with ordinality as once (key, request, ordinality) using (ordinality)
      cross join short_lock_timeout
    ),
    own as materialized (
      select key, request, row_id, ${isExpired} as is_expired from idempotency_key
      where key = any(array(select key from given where key is not null))
    ),
    deleted as (
      delete from idempotency_key where key = any(array(
        select key from idempotency_key where key = any(array(select key from own where is_expired)) and ${isExpired} order by key for update
      ))
      returning key
    ),
    new as materialized (
      select ordinality, key, request, ${inOrder(columns)}, ${columnList(columns)}
      from given
      -- The count has the expired keys deleted before their rows are inserted.
      cross join (select count(*) from deleted) as deleted_first
      where ordinality = first and not exists (select from own where own.key = given.key and not is_expired)
    ),
    ${insertedRows(table, columns, 'new')},
    created as materialized (select ordinality, key, request, id from new join numbered using (number)),
    stored as (
      insert into idempotency_key (key, request, row_id)
      select key, request, id from created where key is not null order by key
    )
    select coalesce(created.id, own.row_id) as id,
      given.key is null or given.request = coalesce(created.request, own.request) as "isSame",
      exists (select from ${nearKeys(sql`(select distinct key from given where key is not null) as own`)} where ${isExpired}) as "hasExpired"
    from given
    left join created on created.ordinality = given.first
    left join own on own.key = given.key and not own.is_expired
    order by given.ordinality`;
}

const inOrder = (columns: readonly string[]) =>
  sql`row_number() over (order by ${columnList(columns)}, ordinality) as number`;

/** Parts of a `with` clause: `numbered` has the ids of the rows of `source` by their `number`. */
const insertedRows = (table: string, columns: readonly string[], source: string) => sql`
    inserted as (
      insert into ${sql.table(table)} (${columnList(columns)})
      select ${columnList(columns)} from ${sql.table(source)} order by number
      returning id
    ),
    numbered as (select id, row_number() over (order by id) as number from inserted)`;

/** The stored keys that follow those of `own` in the order of their digests. */
const nearKeys = (own: RawBuilder<unknown>) => sql`
  ${own} cross join lateral (
    select idempotency_key.key, created_at from idempotency_key
    where idempotency_key.key > own.key order by idempotency_key.key limit ${NEIGHBOURS}
  ) as near (near_key, created_at)`;

/** A digest as PostgreSQL writes bytes. */
const digest = (text: string) => `\\x${hash('sha256', text, 'hex')}`;

/** Digests as PostgreSQL writes an array of bytes, null for `undefined`. */
const digests = (texts: readonly (string | undefined)[]) =>
  `{${texts.map((text) => (text === undefined ? 'null' : `"\\\\x${hash('sha256', text, 'hex')}"`)).join()}}`;

/** Rows were loaded with ids that the sequence has not assigned. No client can mend that, so it is a failure, not a conflict. */
const sequenceBehind = (table: string, cause: unknown) =>
  Object.assign(
    new Error(
      `New ids of ${table} are taken. Run: select setval(pg_get_serial_sequence('${table}', 'id'), (select max(id) from ${table}))`,
      { cause },
    ),
    { code: 'SEQUENCE_BEHIND' },
  );
