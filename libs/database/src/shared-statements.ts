import { sql, type InsertType, type Kysely, type RawBuilder, type SelectType, type UpdateType } from 'kysely';
import pLimit from 'p-limit';
import { connectionsOf } from './open-database.ts';
import { places, type Places } from './places.ts';
import type { Value } from './prepared-query.ts';
import { opaque, prepared, preparedChange } from './statements.ts';
import { batching, inTurn, limitedPerRow, MAX_READS, MAX_WRITES, READ, RUN_ALONE } from './batching.ts';

/** A row of a table, as the statements here need it. */
export type WithId = { id: number };

/**
 * Reads rows by their ids.
 * @param longText a column whose texts may be of any length, and are never null: long ones do not share a statement, and
 * are read a few at a time
 * @returns a function that answers the row, or `undefined` when no row has the id. It throws an HttpError 503 when a long text
 * has not had its turn within 2.5 s.
 */
export function readingById<Tables, Table extends keyof Tables & string, Column extends keyof Tables[Table] & string>(
  db: Kysely<Tables>,
  table: Table,
  columns: readonly Column[],
  longText?: Column,
) {
  type Row = { [Name in Column]: SelectType<Tables[Table][Name]> } & WithId;
  const reading = (selected: RawBuilder<unknown>) =>
    prepared(db, sql<Row>`select ${selected} from ${sql.table(table)} where ${idIsOneOf}`.compile(db));
  const readWhole = reading(list(columns));
  const readShort = longText === undefined ? readWhole : reading(sql.join(columns.map(unlessLong)));
  const longTexts = pLimit(LONG_TEXTS_AT_ONCE);
  return batching(readAll, MAX_READS, (id, deadline) => inTurn(deadline, longTexts, () => readLong(id), READ));

  async function readAll(ids: readonly number[]) {
    const found = new Map((await readShort(arrayOf(ids))).map((row) => [row.id, row]));
    return ids.map((id) => {
      const row = found.get(id);
      return row && longText !== undefined && row[longText] === null ? RUN_ALONE : row;
    });
  }

  async function readLong(id: number) {
    const [row] = await readWhole(arrayOf([id]));
    return row;
  }

  function unlessLong(column: Column) {
    const value = sql.ref(column);
    if (column !== longText) return value;
    return sql`case when octet_length(${value}) <= ${sql.lit(LONG_TEXT_BYTES)} then ${value} end as ${value}`;
  }
}

/** Texts up to this length are read for many requests at once; longer ones would together be too much for the memory. */
const LONG_TEXT_BYTES = 16 * 1_024;

/** The service encodes long texts more slowly than PostgreSQL delivers them: with more at a time, all would be late. */
const LONG_TEXTS_AT_ONCE = 3;

/**
 * Deletes rows by their ids.
 * @returns a function that answers whether there was such a row; of several concurrent deletes of one id, exactly one does
 */
export function deletingById<Tables>(db: Kysely<Tables>, table: keyof Tables & string) {
  const rows = sql.table(table);
  const deleteOne = preparedChange(db, sql`delete from ${rows} where id = ${0}`.compile(db));
  const deleteMany = prepared(
    db,
    changingFree(
      table,
      sql`select unnest(${opaque('bigint[]')}) as id`,
      sql`delete from ${rows} where id = any(array(select id from free)) returning id`,
    ).compile(db),
  );
  const deleteShared = changing<WithId>(
    forLocksOf(db),
    ({ id }) => deleteOne(id),
    (asked) => deleteMany(arrayOf(asked.map(({ id }) => id))),
    false,
  );
  return (id: number) => deleteShared({ id });
}

/**
 * Changes `columns` of rows.
 * @param absent what becomes of a column that a call does not name: it is `kept`, or becomes `null`
 * @param touch a column that is set to the current time, or kept if that is earlier
 * @returns a function that answers whether there was such a row. What PostgreSQL refuses fails alone.
 */
export function updatingById<Tables, Table extends keyof Tables & string, Column extends keyof Tables[Table] & string>(
  db: Kysely<Tables>,
  table: Table,
  columns: readonly Column[],
  { absent, touch }: UpdateOptions<keyof Tables[Table] & string>,
) {
  type Row = { [Name in Column]?: UpdateType<Tables[Table][Name]> & Value };
  const rows = sql.table(table);
  const assigned = (given: (column: Column) => RawBuilder<unknown>) => {
    const set = columns.map((column) =>
      absent === 'kept'
        ? sql`${sql.ref(column)} = coalesce(${given(column)}, old.${sql.ref(column)})`
        : sql`${sql.ref(column)} = ${given(column)}`,
    );
    if (touch === undefined) return sql.join(set);
    const time = sql.ref(touch);
    // Not now(), the time when a statement began that may have waited for other changes since.
    return sql.join([...set, sql`${time} = greatest(clock_timestamp(), old.${time})`]);
  };
  const updateOne = preparedChange(
    db,
    sql`update ${rows} as old set ${assigned(() => sql`${null}`)} where id = ${0}`.compile(db),
  );
  const updateMany = prepared(
    db,
    changingFree(
      table,
      sql`select id, ${list(columns)} from json_populate_recordset(null::${rows}, ${''})`,
      sql`update ${rows} as old set ${assigned((column) => sql`given.${sql.ref(column)}`)} from given
        where old.id = given.id and old.id = any(array(select id from free)) returning old.id`,
    ).compile(db),
  );
  const updateShared = changing<Row & WithId>(
    forLocksOf(db),
    (row) => updateOne(...columns.map((column) => row[column] ?? null), row.id),
    (asked) => updateMany(JSON.stringify(asked)),
    RUN_ALONE,
  );
  return (id: number, row: Row) => updateShared({ ...row, id });
}

interface UpdateOptions<Column> {
  absent: 'kept' | 'null';
  touch?: Column;
}

/**
 * Inserts rows of which `columns` are given; the others get their defaults. Of the given ones, those that may be null can
 * be left out, and are null then.
 * @returns a function that answers the inserted row's id. A row that PostgreSQL refuses fails alone.
 */
export function inserting<Tables, Table extends keyof Tables & string, Column extends keyof Tables[Table] & string>(
  db: Kysely<Tables>,
  table: Table,
  columns: readonly Column[],
) {
  type Given = { [Name in Column]: Exclude<InsertType<Tables[Table][Name]>, undefined> & Value };
  type Nullable = { [Name in Column]: null extends Given[Name] ? Name : never }[Column];
  type Row = Partial<Given> & Omit<Given, Nullable>;
  const insertOne = prepared(
    db,
    sql<WithId>`insert into ${sql.table(table)} (${list(columns)})
      values (${sql.join(columns.map(() => null))}) returning id`.compile(db),
  );
  // In an order that all have in common: of two that insert the same unique values the other way round, each would wait for
  // the other.
  const insertMany = prepared(
    db,
    sql<Row & WithId>`
      with ${shortLockTimeout}
      insert into ${sql.table(table)} (${list(columns)})
      select ${list(columns)} from json_populate_recordset(null::${sql.table(table)}, ${''}), short_lock_timeout
      order by ${list(columns)}
      returning id, ${list(columns)}`.compile(db),
  );
  const contentOf = (row: Row) => JSON.stringify(columns.map((column) => row[column]));
  async function insertAll(rows: readonly Row[]) {
    if (rows.length === 1) {
      const inserted = await insertOne(...columns.map((column) => rows[0]![column]));
      return inserted.map(({ id }) => id);
    }
    const inserted = await insertMany(JSON.stringify(rows));
    // In which order they come back is not said anywhere. Of those with the same content, any will do.
    const ids = new Map<string, number[]>();
    for (const row of inserted) {
      const content = contentOf(row);
      const same = ids.get(content);
      if (same) same.push(row.id);
      else ids.set(content, [row.id]);
    }
    return rows.map((row) => ids.get(contentOf(row))!.pop()!);
  }
  const forLocks = forLocksOf(db);
  const insertOnly = async (row: Row) => (await insertAll([row]))[0]!;
  const insertAlone = (row: Row, deadline: number) =>
    inTurn<number>(
      deadline,
      (insert) => forLocks.use(insert),
      () => insertOnly(row),
    );
  const insertShared = batching(insertAll, MAX_WRITES, insertAlone);
  return (row: Row) => (isLarge(row) ? insertOnly(row) : insertShared(row));
}

/** Many large texts in one statement, and once more in its answer, would take more memory than they save time. */
const isLarge = (row: object) => Object.values(row).some((value) => typeof value === 'string' && value.length > 4_096);

/**
 * Changes share a statement, which waits for no locked row: those are left to statements of their own, so that only the
 * callers of those rows wait.
 * @param repeated what becomes of a further change of the same row in the same statement
 * @returns a function that answers whether there was a row with the id
 */
function changing<Change extends WithId>(
  forLocks: Places,
  changeOne: (change: Change) => Promise<number>,
  changeMany: (changes: Change[]) => Promise<Found[]>,
  repeated: false | typeof RUN_ALONE,
) {
  const changeAlone = limitedPerRow(async (change: Change) => (await changeOne(change)) > 0, forLocks);
  const changeAll = async (changes: readonly Change[]) => {
    if (changes.length === 1 && !forLocks.isFull()) return [await changeAlone(changes[0]!)];
    // Of several with the same id, a map keeps the last.
    const firsts = new Map(changes.toReversed().map((change) => [change.id, change]));
    const found = new Map((await changeMany([...firsts.values()])).map((row) => [row.id, row]));
    return changes.map((change) => {
      const row = found.get(change.id);
      if (row && !row.was_free) return RUN_ALONE;
      return firsts.get(change.id) === change ? row !== undefined : repeated;
    });
  };
  const changeShared = batching<Change, boolean>(changeAll, MAX_WRITES, changeAlone);
  return (change: Change) => (isLarge(change) ? changeAlone(change) : changeShared(change));
}

/** In a transaction, which has its connection anyway, there is no need for places. */
const forLocksOf = <Tables>(db: Kysely<Tables>) => connectionsOf(db)?.forLocks ?? places(Infinity);

/** A row that a shared statement has seen, and changed unless somebody else had locked or deleted it. */
type Found = WithId & { was_free: boolean };

/**
 * A statement that changes those rows that nobody else has locked. Ids are compared with arrays, not joined: for a join,
 * PostgreSQL would read all of a small table, and keep that plan when the table has grown. For arrays it uses the primary key.
 * @param given a query for the `id`s, and for whatever else `change` needs of `given`
 * @param change a statement that changes the rows whose ids are in `free`, and returns these
 */
const changingFree = (table: string, given: RawBuilder<unknown>, change: RawBuilder<unknown>) => sql<Found>`
  with ${shortLockTimeout},
  given as materialized (${given}),
  free as (
    select id from ${sql.table(table)} where id = any(array(select id from given, short_lock_timeout)) for update skip locked
  ),
  changed as (${change})
  select id, true as was_free from changed
  union all
  select id, false from ${sql.table(table)} where id = any(array(select id from given except select id from changed))`;

/**
 * Part of a `with` clause: a statement that selects from it waits for a lock no longer than this, and fails with 55P03 then.
 * Its rows are tried alone after that. Otherwise all of them would wait, as long as a statement may, for the transaction of
 * somebody else that is about to take a unique value of one row.
 */
const shortLockTimeout = sql`short_lock_timeout as materialized (select set_config('lock_timeout', '500ms', true))`;

export const list = (columns: readonly string[]) => sql.join(columns.map((column) => sql.ref(column)));

/** Its value is what `arrayOf` makes of ids. Without the outer cast, `any` would take the sub-select for rows of ids. */
const idIsOneOf = sql`id = any(${opaque('bigint[]')}::bigint[])`;

/** Numbers as PostgreSQL writes an array. */
const arrayOf = (numbers: readonly number[]) => `{${numbers.join()}}`;
