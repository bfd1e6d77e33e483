import { coalesce } from '@rest-services/concurrency';
import { sql, type SqlBool } from 'kysely';
import { prepared, type Statement } from '../connection/statement.ts';
import { Find } from './reads/find.ts';
import { select, type List } from './reads/list.ts';
import { createPages, type Page, type Position } from './reads/page.ts';
import { createSearch } from './reads/search.ts';
import { createWholeList } from './reads/whole-list.ts';
import { columnsOf, type UpdatedFields, type Counts, type NewRow, type RowOf, type Shapes } from './shapes.ts';
import type { AnyDatabase, Values } from './row.ts';
import { createDelete, createUpdate, type RowChange, type Target } from './writes/row-change.ts';
import { createDeleteAll } from './writes/delete-all.ts';
import { Insert, type IdempotencyKey } from './writes/insert.ts';

/**
 * Reads and writes the rows of a table whose bigint `id` the database assigns. Requests that arrive together share statements; a row that
 * PostgreSQL refuses fails no other one. Methods throw an OverloadedError on overload, and errors of PostgreSQL with their SQLSTATE as
 * `code`. An id that JavaScript does not hold exactly is that of a missing row.
 */
export class Repository<Table extends Shapes> {
  readonly #db: AnyDatabase;
  readonly #find: Find<RowOf<Table>>;
  readonly #findVersion: Statement<RowOf<Table> & { xmin: string }>;
  readonly #insert: Insert;
  readonly #update: RowChange<Values & Target>;
  readonly #delete: RowChange<Target>;
  readonly #counts: Statement<Counts<Table>>;
  readonly #lists = new Map<string, () => Promise<List<RowOf<Table>>>>();
  readonly #listOf: (filter: Values) => () => Promise<List<RowOf<Table>>>;

  /** Deletes all rows. Of several calls at once, one gets the number of rows, and the others 0. */
  readonly deleteAll: () => Promise<number>;

  /** Reads a page in the order of the ids, of any length and at any depth. The table needs `createRowCounts`, and has no `longText`. */
  readonly page: (position: Position) => Promise<Page<RowOf<Table>>>;

  /** Searches the rows that contain a text in any case of letters. The table needs a `searchIndex`. */
  readonly search: (text: string) => Promise<List<RowOf<Table>>>;

  constructor(db: AnyDatabase, table: string, shapes: Table) {
    const { longText } = shapes;
    const columns = columnsOf(shapes.row);
    this.#db = db;
    this.#find = new Find(db, table, columns, longText);
    this.#findVersion = prepared(select(table, [...columns, 'xmin'], [sql`id = ${0}`]));
    this.#insert = new Insert(db, table, columnsOf(shapes.insert));
    this.#update = createUpdate(db, table, columnsOf(shapes.update), shapes);
    this.#delete = createDelete(db, table);
    this.deleteAll = createDeleteAll(db, table);
    this.page = createPages(db, table, columns);
    this.search = createSearch(db, table, columns, longText);
    this.#counts = prepared(select(`${table}_count`, shapes.counts ? columnsOf(shapes.counts) : ['total'], []));
    this.#listOf = (filter) => createWholeList(db, table, columns, conditionsOf(filter), longText);
  }

  /** Reads the row of this id, or `undefined` when there is none. */
  findById(id: number): Promise<RowOf<Table> | undefined> {
    return Number.isSafeInteger(id) ? this.#find.share(id) : Promise.resolve(undefined);
  }

  /** Reads a row and its version, at the primary: another one after each change. */
  async findVersion(id: number): Promise<{ row: RowOf<Table>; version: string } | undefined> {
    if (!Number.isSafeInteger(id)) return undefined;
    const [row] = (await this.#db.readFromPrimary(this.#findVersion, [id])).rows;
    return row && { row, version: row.xmin };
  }

  /**
   * Inserts a row, unless `idempotencyKey` has inserted one in the last 24 hours.
   * @returns the id of the row
   * @throws ReusedKeyError when the key belongs to another request
   */
  insert(row: NewRow<Table>, idempotencyKey?: IdempotencyKey): Promise<number> {
    return this.#insert.insertRow(row, idempotencyKey);
  }

  /**
   * Updates a row. @returns whether it exists
   * @param version that the row must have, `null` where none was found; of several changes of one version, one is made
   * @throws PreconditionFailedError when the row has another version, or is gone
   */
  update(id: number, changes: UpdatedFields<Table>, version?: string | null): Promise<boolean> {
    return this.#update.apply({ ...(changes as Values), id, xmin: version });
  }

  /**
   * Deletes a row. @returns whether it existed; of several deletes at once of one id, exactly one returns `true`
   * @param version as for `update`
   */
  delete(id: number, version?: string | null): Promise<boolean> {
    return this.#delete.apply({ id, xmin: version });
  }

  /** Counts the rows, at the same cost for any number. The table needs `createRowCounts`. */
  readonly count = coalesce(async () => (await this.#db.read(this.#counts, [])).rows[0]!);

  /**
   * Lists all rows in the order of the ids.
   * @param filter constants of the service by column, each set of which is one prepared statement
   */
  list(filter: Partial<RowOf<Table>> = {}): Promise<List<RowOf<Table>>> {
    const key = JSON.stringify(filter);
    const list = this.#lists.get(key) ?? this.#listOf(filter as Values);
    this.#lists.set(key, list);
    return list();
  }
}

const conditionsOf = (filter: Values) =>
  Object.entries(filter).map(([column, value]) => sql<SqlBool>`${sql.ref(column)} = ${sql.lit(value)}`);
