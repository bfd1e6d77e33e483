import { setImmediate as endOfTurn } from 'node:timers/promises';
import DataLoader from 'dataloader';
import { sql, type Insertable, type Kysely, type SelectType, type UpdateType } from 'kysely';
import { opaque, prepared } from './open-database.ts';

// Requests that arrive in the same turn of the event loop share one statement, which costs little more than a statement
// for one of them. Nothing is kept: each request gets what was committed when its statement began.

/** A row of a table, as the statements here need it. */
export type WithId = { id: number };

/**
 * Reads rows by their ids.
 * @returns a loader whose `load(id)` answers the row, or `undefined` when no row has the id
 */
export function byId<Tables, Table extends keyof Tables & string, Column extends keyof Tables[Table] & string>(
  db: Kysely<Tables>,
  table: Table,
  columns: readonly Column[],
) {
  type Row = { [Name in Column]: SelectType<Tables[Table][Name]> } & WithId;
  const read = prepared(db, sql<Row>`select ${list(columns)} from ${sql.table(table)} where ${idIsOneOf}`.compile(db));
  return sharing(async (ids: readonly number[]) => {
    const rows = await read(arrayOf(ids));
    const found = new Map(rows.map((row) => [row.id, row]));
    return ids.map((id) => found.get(id));
  });
}

/**
 * Deletes rows by their ids.
 * @returns a loader whose `load(id)` answers whether there was such a row; of several at once, the first is told so
 */
export function deletingById<Tables>(db: Kysely<Tables>, table: keyof Tables & string) {
  const remove = prepared(db, sql<WithId>`delete from ${sql.table(table)} where ${idIsOneOf} returning id`.compile(db));
  return sharing(async (ids: readonly number[]) => {
    const deleted = new Set((await remove(arrayOf([...ids].sort((a, b) => a - b)))).map(({ id }) => id));
    return ids.map((id) => deleted.delete(id));
  });
}

/**
 * Changes `columns` of one row. Each call has a statement of its own: of two that change the same row in one statement,
 * PostgreSQL would leave one out.
 * @param absent what becomes of a column that a call does not name: it is `kept`, or becomes `null`
 * @param touch a column that is set to the current time
 * @returns a function that answers whether there was such a row
 */
export function updatingById<Tables, Table extends keyof Tables & string, Column extends keyof Tables[Table] & string>(
  db: Kysely<Tables>,
  table: Table,
  columns: readonly Column[],
  { absent, touch }: { absent: 'kept' | 'null'; touch?: keyof Tables[Table] & string },
) {
  const set = columns.map((column) =>
    absent === 'kept'
      ? sql`${sql.ref(column)} = coalesce(${null}, ${sql.ref(column)})`
      : sql`${sql.ref(column)} = ${null}`,
  );
  if (touch) set.push(sql`${sql.ref(touch)} = now()`);
  const update = prepared(
    db,
    sql<WithId>`update ${sql.table(table)} set ${sql.join(set)} where id = ${0} returning id`.compile(db),
  );
  return async (id: number, row: { [Name in Column]?: UpdateType<Tables[Table][Name]> }) =>
    (await update(...columns.map((column) => row[column] ?? null), id)).length > 0;
}

/**
 * Inserts rows of which `columns` are given; the others get their defaults.
 * @returns a loader whose `load(row)` answers the inserted row's id. A row that PostgreSQL refuses fails alone.
 */
export function inserting<Tables, Table extends keyof Tables & string, Column extends keyof Tables[Table] & string>(
  db: Kysely<Tables>,
  table: Table,
  columns: readonly Column[],
) {
  type Row = Pick<Insertable<Tables[Table]>, Column & keyof Insertable<Tables[Table]>>;
  const insertOne = prepared(
    db,
    sql<WithId>`insert into ${sql.table(table)} (${list(columns)})
      values (${sql.join(columns.map(() => null))}) returning id`.compile(db),
  );
  const insertMany = prepared(
    db,
    sql<Row & WithId>`insert into ${sql.table(table)} (${list(columns)})
      select ${list(columns)} from json_populate_recordset(null::${sql.table(table)}, ${''})
      returning id, ${list(columns)}`.compile(db),
  );
  const contentOf = (row: Row) => JSON.stringify(columns.map((column) => row[column as keyof Row]));
  async function insertAll(rows: readonly Row[]) {
    if (rows.length === 1) {
      const inserted = await insertOne(...columns.map((column) => rows[0]![column as keyof Row]));
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
  const shared = sharing(insertAll, MAX_INSERTS);
  return {
    load: async (row: Row): Promise<number> => (isLarge(row) ? (await insertAll([row]))[0]! : shared.load(row)),
  };
}

/** Many large texts in one statement, and once more in its answer, would take more memory than they save time. */
const isLarge = (row: object) => Object.values(row).some((value) => typeof value === 'string' && value.length > 4_096);

/** Calls of the result in one turn with the same arguments get the same promise, of a single call of `run`. */
export function oncePerTurn<Arguments extends unknown[], Result>(run: (...args: Arguments) => Promise<Result>) {
  const results = new Map<string, Promise<Result>>();
  return (...args: Arguments): Promise<Result> => {
    const key = JSON.stringify(args);
    const shared = results.get(key);
    if (shared) return shared;
    // Only then: a statement that has begun already does not see what has been acknowledged since.
    const result = endOfTurn().then(() => {
      results.delete(key);
      return run(...args);
    });
    results.set(key, result);
    return result;
  };
}

/** @param run answers what belongs to each key, in the order of the keys */
function sharing<Key, Result>(run: (keys: readonly Key[]) => Promise<Result[]>, maxBatchSize = MAX_SHARING) {
  async function runShared(keys: readonly Key[]) {
    try {
      return await run(keys);
    } catch (error) {
      if (keys.length === 1 || !wasUndone(error)) throw error;
      return Promise.all(keys.map((key) => run([key]).then(([result]) => result!, toError)));
    }
  }
  return new DataLoader<Key, Result>(runShared, {
    cache: false,
    maxBatchSize,
    batchScheduleFn: (dispatch) => setImmediate(dispatch),
  });
}

/**
 * Requests that share one statement at most. More would gain little, and while PostgreSQL is busy with the requests of
 * all connections at once, the service would have nothing to do.
 */
const MAX_SHARING = 32;

/** The same for inserts: a commit, and the triggers that count rows, cost as much for many rows as for one. */
const MAX_INSERTS = 64;

/**
 * Whether PostgreSQL has refused a statement for what one row says (SQLSTATE classes 22 and 23), or has chosen it to
 * resolve a deadlock (40). Nothing of it was done then, so that each row can be tried alone. After any other failure,
 * such as a lost connection, that is not known.
 */
const wasUndone = (error: unknown) => /^(22|23|40)...$/.test((error as { code?: string }).code ?? '');

const toError = (error: unknown) => error as Error;

export const list = (columns: readonly string[]) => sql.join(columns.map((column) => sql.ref(column)));

/** Its value is what `arrayOf` makes of ids. */
const idIsOneOf = sql`id = any(${opaque('bigint[]')}::bigint[])`;

/** Numbers as PostgreSQL writes an array. */
const arrayOf = (numbers: readonly number[]) => `{${numbers.join()}}`;
