import { hash } from 'node:crypto';
import { ReusedKeyError } from '@rest-services/errors';
import { sql, type RawBuilder } from 'kysely';
import type { Database } from '../connection/database.ts';
import { columnList, parameter, prepared } from '../connection/statement.ts';
import { errorClass, SQLSTATE_CLASS } from '../sqlstate.ts';
import { isWrittenAlone, shortLockTimeout, type Values, type WithId } from './row.ts';
import { MAX_WRITES, SharedStatement } from './shared-statement.ts';

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
 * Inserts rows, with and without keys in one statement. A key is stored by the statement that inserts its row, so that both are
 * committed or none is; this needs the table of `createIdempotencyKeys`.
 */
export class Insert extends SharedStatement<Insertion, Outcome> {
  readonly #table: string;
  readonly #statements: ReturnType<typeof insertStatements>;

  constructor(db: Database<unknown>, table: string, columns: readonly string[]) {
    super(db, MAX_WRITES);
    this.#table = table;
    this.#statements = insertStatements(table, columns);
  }

  /**
   * @returns the id of the row, also when the row of the key has been deleted since
   * @throws ReusedKeyError when the key belongs to another request
   */
  async insertRow(row: Values, once: IdempotencyKey | undefined): Promise<number> {
    const insertion = { row, once };
    const { id, isSame } = await (isWrittenAlone(row) ? this.runAlone(insertion) : this.share(insertion));
    if (!isSame) throw new ReusedKeyError();
    return id;
  }

  protected override async runShared(insertions: readonly Insertion[]) {
    return insertions.length === 1 && !this.db.lockWaits.isFull
      ? [await this.runAlone(insertions[0]!)]
      : this.insertMany(insertions);
  }

  protected override runAlone(insertion: Insertion, deadline?: number) {
    return this.db.lockWaits.runInTurn(() => this.insertOne(insertion), undefined, deadline);
  }

  private async insertOne({ row, once }: Insertion): Promise<Outcome> {
    const { one, find } = this.#statements;
    try {
      if (once) return await this.insertOnce(row, once);
      return { id: (await this.db.write(one, [JSON.stringify(row)])).rows[0]!.id, isSame: true };
    } catch (error) {
      if (errorClass(error) !== SQLSTATE_CLASS.INTEGRITY_CONSTRAINT_VIOLATION) throw error;
      // The same request, at the same time, may have stored the key, or the unique value of the row.
      const [found] = once ? (await this.db.readFromPrimary(find, [digest(once.request), digest(once.key)])).rows : [];
      if (found) return found;
      const isOfPrimaryKey = (error as { constraint?: string }).constraint === `${this.#table}_pkey`;
      throw isOfPrimaryKey ? sequenceBehind(this.#table, error) : error;
    }
  }

  /** One row has a statement of its own: `manyOnce` takes twice the time of PostgreSQL for it. */
  private async insertOnce(row: Values, once: IdempotencyKey): Promise<Outcome> {
    const values = [digest(once.key), digest(once.request), JSON.stringify(row)];
    const [outcome] = (await this.db.write(this.#statements.oneOnce, values)).rows;
    // The key has expired.
    if (!outcome) return (await this.insertMany([{ row, once }]))[0]!;
    if (outcome.hasExpired) this.deleteExpired([once.key]);
    return outcome;
  }

  private async insertMany(insertions: readonly Insertion[]): Promise<Outcome[]> {
    const { many, manyOnce } = this.#statements;
    const rows = JSON.stringify(insertions.map(({ row }) => row));
    if (insertions.every(({ once }) => once === undefined))
      return (await this.db.write(many, [rows])).rows.map(({ id }) => ({ id, isSame: true }));
    const keys = insertions.map(({ once }) => once?.key);
    const requests = digests(insertions.map(({ once }) => once?.request));
    const outcomes = (await this.db.write(manyOnce, [rows, digests(keys), requests])).rows;
    if (outcomes[0]!.hasExpired) this.deleteExpired(keys);
    return outcomes;
  }

  /** Runs after the insert, which would wait for the keys of other inserts. What it leaves is deleted after a later insert. */
  private deleteExpired(keys: readonly (string | undefined)[]) {
    void this.db.write(this.#statements.deleteExpired, [digests(keys)]).catch(() => undefined);
  }
}

function insertStatements(table: string, columns: readonly string[]) {
  return {
    one: prepared(
      sql<WithId>`insert into ${sql.table(table)} (${columnList(columns)})
        select ${columnList(columns)} from json_populate_record(null::${sql.table(table)}, ${''}) returning id`,
    ),
    oneOnce: prepared(oneOnceStatement(table, columns)),
    many: prepared(manyStatement(table, columns)),
    manyOnce: prepared(onceStatement(table, columns)),
    find: prepared(
      sql<Outcome>`select row_id as id, request = ${parameter('bytea')} as "isSame" from idempotency_key
        where key = ${parameter('bytea')} and not ${isExpired}`,
    ),
    deleteExpired: prepared(
      sql`delete from idempotency_key where key = any(array(
        select key from idempotency_key
        where key = any(array(select near_key from ${nearKeys(sql`unnest(${parameter('bytea[]')}) as own (key)`)} where ${isExpired}))
        for update skip locked
      ))`,
    ),
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

/** Inserts a row and its key, unless the key is stored. Returns nothing when the stored key has expired. */
function oneOnceStatement(table: string, columns: readonly string[]) {
  return sql<Outcome>`
    with own as (select ${parameter('bytea')} as key, ${parameter('bytea')} as request),
    stored as materialized (
      select row_id, idempotency_key.request = own.request as is_same, ${isExpired} as is_expired
      from own join idempotency_key using (key)
    ),
    inserted as (
      insert into ${sql.table(table)} (${columnList(columns)})
      select ${columnList(columns)} from json_populate_record(null::${sql.table(table)}, ${''}) where not exists (select from stored)
      returning id
    ),
    new_key as (insert into idempotency_key (key, request, row_id) select key, request, id from own cross join inserted)
    select id, true as "isSame", exists (select from ${nearKeys(sql`own`)} where ${isExpired}) as "hasExpired" from inserted
    union all
    select row_id, is_same, false from stored where not is_expired`;
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

/** A digest as PostgreSQL writes bytes, which takes the driver longer. */
const digest = (text: string) => `\\x${hash('sha256', text, 'hex')}`;

/** Digests as PostgreSQL writes an array of bytes, null for `undefined`. */
const digests = (texts: readonly (string | undefined)[]) =>
  `{${texts.map((text) => (text === undefined ? 'null' : `"\\${digest(text)}"`)).join()}}`;

/** Rows were loaded with ids that the sequence has not assigned. No client can mend that, so it is a failure, not a conflict. */
const sequenceBehind = (table: string, cause: unknown) =>
  Object.assign(
    new Error(
      `New ids of ${table} are taken. Run: select setval(pg_get_serial_sequence('${table}', 'id'), (select max(id) from ${table}))`,
      { cause },
    ),
    { code: 'SEQUENCE_BEHIND' },
  );
