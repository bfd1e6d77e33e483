import { coalesce } from '@rest-services/concurrency';
import { PreconditionFailedError } from '@rest-services/errors';
import { sql, type InsertType, type RawBuilder, type SelectType, type SqlBool, type UpdateType } from 'kysely';
import type { Database } from '../connection/database.ts';
import type { Value } from '../connection/session.ts';
import { batchedWrite } from './batched-write.ts';
import { createFind } from './find.ts';
import { createInsert, type IdempotencyKey } from './insert.ts';
import { CHUNK_ROWS, chunk, listContinuation, versionOf, type List } from './list.ts';
import { createPages, type Position } from './page.ts';
import { createSearch, type SearchOptions } from './search.ts';
import { RETRY_ALONE } from './shared-statement.ts';
import { columnList, prepare, prepareRead } from './statement.ts';
import {
  deleteStatements,
  updateStatements,
  type Target,
  type UpdateOptions,
  type Values,
  type WithId,
} from './write-statements.ts';

/** What a service reads and writes of a table. */
export interface RepositoryOptions<Read, Inserted, Updated> {
  /** Columns of a row. */
  columns: readonly Read[];
  /** A column without maximum length, which is never null. */
  longText?: Read;
  /** Columns that an insert gives. Columns that are not listed get their defaults. */
  insert: readonly Inserted[];
  update: UpdateOptions<Updated>;
  search?: SearchOptions<Read>;
}

/** A page of a table, and the number of all rows, both of one snapshot. */
export interface Page<Row> extends List<Row> {
  total: number;
}

/** Makes the repository of a table whose bigint `id` the database assigns. */
export function repository<
  Tables,
  Table extends keyof Tables & string,
  Read extends keyof Tables[Table] & string,
  Inserted extends keyof Tables[Table] & string,
  Updated extends keyof Tables[Table] & string,
>(db: Database<Tables>, table: Table, options: RepositoryOptions<Read, Inserted, Updated>) {
  type Given = { [Name in Inserted]: Exclude<InsertType<Tables[Table][Name]>, undefined> & Value };
  // The statement of a batch gives every listed column of each row. An absent value is null there, never the default.
  type Nullable = { [Name in Inserted]: null extends Given[Name] ? Name : never }[Inserted];
  return new Repository<
    { [Name in Read]: SelectType<Tables[Table][Name]> } & WithId,
    Partial<Given> & Omit<Given, Nullable>,
    { [Name in Updated]?: UpdateType<Tables[Table][Name]> & Value }
  >(db as unknown as Database<unknown>, table, options);
}

/**
 * Reads and writes rows. Requests that arrive together share statements; a row that PostgreSQL refuses fails alone. Methods throw an
 * OverloadedError on overload, and errors of PostgreSQL with their SQLSTATE as `code`.
 */
export class Repository<Row extends WithId, NewRow extends object, Changes extends object> {
  readonly #db: Database<unknown>;
  readonly #table: string;
  readonly #options: RepositoryOptions<string, string, string>;
  readonly #find: (id: number) => Promise<Row | undefined>;
  readonly #findVersion: (id: number) => Promise<{ rows: (Row & { xmin: string })[] }>;
  readonly #insert: ReturnType<typeof createInsert>;
  readonly #update: (changes: Values & Target) => Promise<boolean>;
  readonly #delete: (row: Target) => Promise<boolean>;
  readonly #readPage: ReturnType<typeof createPages>;
  readonly #listFrom: ReturnType<typeof listContinuation<unknown, Row>>;
  readonly #lists = new Map<string, () => Promise<List<Row>>>();
  readonly #search: ((text: string) => Promise<List<Row>>) | undefined;

  constructor(db: Database<unknown>, table: string, options: RepositoryOptions<string, string, string>) {
    const { columns, longText, insert, update, search } = options;
    this.#db = db;
    this.#table = table;
    this.#options = options;
    this.#find = createFind<Row>(db, table, columns, longText);
    this.#findVersion = prepare(
      db,
      sql<Row & { xmin: string }>`select ${columnList(columns)}, xmin::text from ${sql.table(table)} where id = ${0}`,
    );
    this.#insert = createInsert(db, table, insert);
    this.#update = batchedWrite(db, updateStatements(db, table, update), RETRY_ALONE);
    this.#delete = batchedWrite(db, deleteStatements(db, table), false);
    this.#readPage = createPages(db, table, columns);
    this.#listFrom = listContinuation<unknown, Row>(db, (id) => this.#select(sql`id > ${id}`), longText);
    this.#search =
      search &&
      createSearch<unknown, Row>(db, table, { ...search, ...(longText ? { longText } : {}) }, (condition) =>
        this.#select(condition),
      );
  }

  /** Reads the row of this id, or `undefined` when there is none. */
  findById(id: number): Promise<Row | undefined> {
    return this.#find(id);
  }

  /**
   * Inserts a row, unless `idempotencyKey` has inserted one in the last 24 hours.
   * @returns the id of the row
   * @throws ReusedKeyError when the key belongs to another request
   */
  insert(row: NewRow, idempotencyKey?: IdempotencyKey): Promise<number> {
    return this.#insert(row as Values, idempotencyKey);
  }

  /**
   * Changes a row. @returns whether it exists
   * @param mayChange decides by the row that is there whether it is changed; of several such changes at once, one is made
   * @throws PreconditionFailedError when `mayChange` returns `false`, or when another change was faster
   */
  update(id: number, changes: Changes, mayChange?: (row: Row) => boolean): Promise<boolean> {
    const change = { ...(changes as Values), id };
    return mayChange ? this.#writeIf(mayChange, change, this.#update) : this.#update(change);
  }

  /**
   * Deletes a row. @returns whether it existed; of several deletes at once of one id, exactly one returns `true`
   * @param mayDelete as for `update`
   */
  delete(id: number, mayDelete?: (row: Row) => boolean): Promise<boolean> {
    return mayDelete ? this.#writeIf(mayDelete, { id }, this.#delete) : this.#delete({ id });
  }

  async #writeIf<Change extends Target>(
    mayWrite: (row: Row) => boolean,
    change: Change,
    write: (change: Change) => Promise<boolean>,
  ) {
    const [row] = (await this.#findVersion(change.id)).rows;
    if (!row) return false;
    // The statement writes nothing when another one has written the row since.
    if (!mayWrite(row) || !(await write({ ...change, xmin: row.xmin }))) throw new PreconditionFailedError();
    return true;
  }

  /** Reads a page in the order of the ids, of any length and at any depth. The table needs `createRowCounts`, and has no `longText`. */
  async page({ offset, limit }: Position): Promise<Page<Row>> {
    const { total, rows } = await this.#readPage({ offset, limit: Math.min(limit, CHUNK_ROWS) });
    return { total, ...this.#listFrom(rows as Row[], limit) };
  }

  /**
   * Lists all rows in the order of the ids.
   * @param filter constants of the service by column, each set of which is one prepared statement
   */
  list(filter: { [Name in keyof Row]?: NonNullable<Row[Name]> } = {}): Promise<List<Row>> {
    const key = JSON.stringify(filter);
    const list = this.#lists.get(key) ?? this.#prepareList(filter);
    this.#lists.set(key, list);
    return list();
  }

  #prepareList(filter: Values) {
    const { longText } = this.#options;
    const conditions = Object.entries(filter).map(
      ([column, value]) => sql<SqlBool>`${sql.ref(column)} = ${sql.lit(value)}`,
    );
    const matching = (...more: RawBuilder<SqlBool>[]) => this.#select(...conditions, ...more);
    const readFirst = prepareRead(this.#db, chunk(matching(), longText));
    const listFrom = listContinuation<unknown, Row>(this.#db, (id) => matching(sql`id > ${id}`), longText);
    const readVersion = prepareRead(
      this.#db,
      versionOf(sql`select id, xmin from ${sql.table(this.#table)} ${where(conditions)}`),
    );
    return coalesce(async () => {
      const list = listFrom((await readFirst()).rows);
      if (!list.next) return list;
      // The rows are read after their version: it may then be older than the rows, and never newer.
      const { version } = (await readVersion()).rows[0]!;
      return { ...listFrom((await readFirst()).rows), version: version ?? undefined };
    });
  }

  /**
   * Searches the rows that contain a text in any case of letters.
   * @throws Error when the repository has no `search` option
   */
  search(text: string): Promise<List<Row>> {
    if (!this.#search) throw new Error(`${this.#table} has no search`);
    return this.#search(text);
  }

  #select(...conditions: RawBuilder<unknown>[]) {
    return sql<Row>`select ${columnList(this.#options.columns)} from ${sql.table(this.#table)} ${where(conditions)}`;
  }
}

const where = (conditions: readonly RawBuilder<unknown>[]) =>
  conditions.length > 0 ? sql`where ${sql.join(conditions, sql` and `)}` : sql``;
