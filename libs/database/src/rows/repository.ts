import { PreconditionFailedError } from '@rest-services/errors';
import { sql, type InsertType, type SelectType, type SqlBool, type UpdateType } from 'kysely';
import type { Database } from '../connection/database.ts';
import type { Value } from '../connection/session.ts';
import { prepared, type Statement } from '../connection/statement.ts';
import type { Change, Target } from './change.ts';
import { createDelete } from './delete.ts';
import { Find } from './find.ts';
import { Insert, type IdempotencyKey } from './insert.ts';
import { select, WholeList, type List } from './list.ts';
import { Pages, type Page, type Position } from './page.ts';
import type { Values, WithId } from './row.ts';
import { Search, type SearchOptions } from './search.ts';
import { createUpdate, type UpdateOptions } from './update.ts';

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
 * Reads and writes rows. Requests that arrive together share statements; a row that PostgreSQL refuses fails no other one. Methods throw an
 * OverloadedError on overload, and errors of PostgreSQL with their SQLSTATE as `code`.
 */
export class Repository<Row extends WithId, NewRow extends object, Changes extends object> {
  readonly #db: Database<unknown>;
  readonly #table: string;
  readonly #options: RepositoryOptions<string, string, string>;
  readonly #find: Find<Row>;
  readonly #version: Statement<Row & { xmin: string }>;
  readonly #insert: Insert;
  readonly #update: Change<Values & Target>;
  readonly #delete: Change<Target>;
  readonly #pages: Pages<Row>;
  readonly #lists = new Map<string, WholeList<Row>>();
  readonly #search: Search<Row> | undefined;

  constructor(db: Database<unknown>, table: string, options: RepositoryOptions<string, string, string>) {
    const { columns, longText, insert, update, search } = options;
    this.#db = db;
    this.#table = table;
    this.#options = options;
    this.#find = new Find(db, table, columns, longText);
    this.#version = prepared(select(table, [...columns, 'xmin'], [sql`id = ${0}`]));
    this.#insert = new Insert(db, table, insert);
    this.#update = createUpdate(db, table, update);
    this.#delete = createDelete(db, table);
    this.#pages = new Pages(db, table, columns);
    this.#search = search && new Search(db, table, columns, { ...search, longText });
  }

  /** Reads the row of this id, or `undefined` when there is none. */
  findById(id: number): Promise<Row | undefined> {
    return this.#find.share(id);
  }

  /**
   * Inserts a row, unless `idempotencyKey` has inserted one in the last 24 hours.
   * @returns the id of the row
   * @throws ReusedKeyError when the key belongs to another request
   */
  insert(row: NewRow, idempotencyKey?: IdempotencyKey): Promise<number> {
    return this.#insert.insertRow(row as Values, idempotencyKey);
  }

  /**
   * Changes a row. @returns whether it exists
   * @param mayChange decides by the row that is there whether it is changed; of several such changes at once, one is made
   * @throws PreconditionFailedError when `mayChange` returns `false`, or when another change was faster
   */
  update(id: number, changes: Changes, mayChange?: (row: Row) => boolean): Promise<boolean> {
    const change = { ...(changes as Values), id };
    return mayChange ? this.#applyIf(mayChange, this.#update, change) : this.#update.apply(change);
  }

  /**
   * Deletes a row. @returns whether it existed; of several deletes at once of one id, exactly one returns `true`
   * @param mayDelete as for `update`
   */
  delete(id: number, mayDelete?: (row: Row) => boolean): Promise<boolean> {
    return mayDelete ? this.#applyIf(mayDelete, this.#delete, { id }) : this.#delete.apply({ id });
  }

  async #applyIf<Given extends Target>(mayWrite: (row: Row) => boolean, write: Change<Given>, change: Given) {
    const [row] = (await this.#db.readFromPrimary(this.#version, [change.id])).rows;
    if (!row) return false;
    // The statement writes nothing when another one has written the row since.
    if (!mayWrite(row) || !(await write.apply({ ...change, xmin: row.xmin }))) throw new PreconditionFailedError();
    return true;
  }

  /** Reads a page in the order of the ids, of any length and at any depth. The table needs `createRowCounts`, and has no `longText`. */
  page(position: Position): Promise<Page<Row>> {
    return this.#pages.readPage(position);
  }

  /**
   * Lists all rows in the order of the ids.
   * @param filter constants of the service by column, each set of which is one prepared statement
   */
  list(filter: { [Name in keyof Row]?: NonNullable<Row[Name]> } = {}): Promise<List<Row>> {
    const key = JSON.stringify(filter);
    let list = this.#lists.get(key);
    if (!list) {
      const conditions = Object.entries(filter as Values).map(
        ([column, value]) => sql<SqlBool>`${sql.ref(column)} = ${sql.lit(value)}`,
      );
      list = new WholeList(this.#db, this.#table, this.#options, conditions);
      this.#lists.set(key, list);
    }
    return list.readFirst();
  }

  /**
   * Searches the rows that contain a text in any case of letters.
   * @throws Error when the repository has no `search` option
   */
  search(text: string): Promise<List<Row>> {
    if (!this.#search) throw new Error(`${this.#table} has no search`);
    return this.#search.readMatches(text);
  }
}
