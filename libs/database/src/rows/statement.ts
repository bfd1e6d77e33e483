import { hash } from 'node:crypto';
import { sql, type RawBuilder } from 'kysely';
import type { Database } from '../connection/database.ts';
import type { Value } from '../connection/session.ts';

/**
 * Compiles a statement once; PostgreSQL prepares it once per session. Name its columns: `*` would fail after a migration that adds one.
 * @param statement with any values: a call passes the real ones, in the order of the text
 */
export function prepare<Tables, Row>(db: Database<Tables>, statement: RawBuilder<Row>) {
  const { text, name } = compiled(db, statement);
  return async (...values: Value[]) => db.run<Row>(text, values, name);
}

/** As `prepare`, for a statement that only reads. */
export function prepareRead<Tables, Row>(db: Database<Tables>, statement: RawBuilder<Row>) {
  const { text, name } = compiled(db, statement);
  return async (...values: Value[]) => db.read<Row>(text, values, name);
}

function compiled<Tables>(db: Database<Tables>, statement: RawBuilder<unknown>) {
  const { sql: text } = statement.compile(db);
  // The same in all releases, which may share the sessions of a pooler.
  return { text, name: hash('sha256', text, 'base64url') };
}

/** As `prepare`, for a statement whose best plan changes while its table grows: PostgreSQL plans each execution. */
export function compile<Tables, Row>(db: Database<Tables>, statement: RawBuilder<Row>) {
  const { sql: text } = statement.compile(db);
  return async (...values: Value[]) => db.run<Row>(text, values);
}

/** A value of a prepared statement. */
export const parameter = <Type>(type: 'bigint' | 'bigint[]' | 'bytea' | 'bytea[]' | 'text' | 'text[]' | 'xid') =>
  sql<Type>`${null}::${sql.raw(type)}`;

export const columnList = (columns: readonly string[]) => sql.join(columns.map((column) => sql.ref(column)));

/** Ids as PostgreSQL writes an array. */
export const idArray = (ids: readonly number[]) => `{${ids.join()}}`;

/** Texts as PostgreSQL writes an array. */
export const textArray = (texts: readonly string[]) =>
  `{${texts.map((text) => `"${text.replaceAll(/["\\]/g, '\\$&')}"`).join()}}`;
