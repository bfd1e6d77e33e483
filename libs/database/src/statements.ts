import { hash } from 'node:crypto';
import { sql, type CompiledQuery, type Kysely } from 'kysely';
import { connectionsOf } from './open-database.ts';
import type { Value } from './prepared-query.ts';

/**
 * A statement that is compiled once, here. Of what `openDatabase` has returned, it takes the connections directly: with
 * Kysely's own way to a result, each statement would cost more.
 * @param db what `openDatabase` has returned, or a transaction
 * @param query with any values: the function that is returned gets the real ones, in the order of the text
 */
export function compiled<Tables, Row>(db: Kysely<Tables>, query: CompiledQuery<Row>) {
  const run = running(db, query);
  return async (...values: Value[]) => (await run(values)).rows;
}

/**
 * A compiled statement that PostgreSQL plans once for each connection. It is for those whose best plan does not depend
 * on the values, and which name their columns: `*` would fail after a migration that adds one. In a transaction, the
 * statement is planned each time.
 */
export function prepared<Tables, Row>(db: Kysely<Tables>, query: CompiledQuery<Row>) {
  name(db, query);
  return compiled(db, query);
}

/**
 * The same for a change of rows that returns none of them, which takes less of everybody's time.
 * @returns a function that answers how many rows were changed
 */
export function preparedChange<Tables>(db: Kysely<Tables>, query: CompiledQuery) {
  name(db, query);
  const run = running(db, query);
  return async (...values: Value[]) => (await run(values)).count;
}

function running<Tables, Row>(db: Kysely<Tables>, query: CompiledQuery<Row>) {
  const connections = connectionsOf(db);
  return async (values: Value[]) => {
    if (!connections) {
      const { rows, numAffectedRows } = await db.executeQuery<Row>({ ...query, parameters: values });
      return { rows, count: Number(numAffectedRows) };
    }
    const connection = await connections.connect();
    try {
      const { rows, rowCount } = await connection.query<Row>(query.sql, values);
      return { rows, count: rowCount };
    } finally {
      connection.release();
    }
  };
}

/** A name of its own wherever it is prepared: a session that a pooler gives to several releases knows both by it. */
function name<Tables>(db: Kysely<Tables>, { sql }: CompiledQuery) {
  connectionsOf(db)?.names.set(sql, hash('sha256', sql, 'base64url'));
}

/**
 * A value of a prepared statement, for where the number of rows depends on it, that PostgreSQL's planner can't see. If it
 * saw that ten rows are asked for, a plan for ten would look cheaper than one for any number: it would plan the statement
 * anew each time, which takes longer than to read them.
 */
export const opaque = <Value>(type: 'bigint' | 'bigint[]' | 'text' | 'text[]') =>
  sql<Value>`(select ${null}::${sql.raw(type)})`;
