import { hash } from 'node:crypto';
import { Kysely, PostgresDialect, sql, type RawBuilder } from 'kysely';

/** A statement whose text never changes. Name its columns: `*` would fail after a migration that adds one. */
export interface Statement<Row> {
  readonly text: string;
  /** PostgreSQL prepares the statement once per session under this name. */
  readonly name?: string;
  /** Only for its type. */
  readonly row?: Row;
}

/** Writes SQL; it has no connection. */
const compiler = new Kysely({
  dialect: new PostgresDialect({ pool: () => Promise.reject(new Error('no connection')) }),
});

/** @param statement with any values: an execution passes the real ones, in the order of the text */
export function prepared<Row>(statement: RawBuilder<Row>): Statement<Row> {
  const text = statement.compile(compiler).sql;
  // The same in all releases, which may share the sessions of a pooler.
  return { text, name: hash('sha256', text, 'base64url') };
}

/** A value of a prepared statement. */
export const parameter = <Type>(type: 'bigint' | 'bigint[]' | 'bytea' | 'bytea[]' | 'text' | 'text[]' | 'xid') =>
  sql<Type>`${null}::${sql.raw(type)}`;

export const columnList = (columns: readonly string[]) => sql.join(columns.map((column) => sql.ref(column)));

/** Ids as PostgreSQL writes an array, which takes the driver longer. */
export const idArray = (ids: readonly number[]) => `{${ids.join()}}`;
