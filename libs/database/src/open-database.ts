import { Kysely, PostgresDialect, type PostgresPoolClient } from 'kysely';
import pg from 'pg';

/** A request waits this long for a connection, new or out of the pool. */
const CONNECTION_TIMEOUT_MS = 1_000;

/** PostgreSQL ends a statement after this time. */
const STATEMENT_TIMEOUT_MS = 1_800;

/** A server that does not even do that is given up. With the wait for a connection this stays below three seconds. */
const UNRESPONSIVE_MS = 1_900;

export interface DatabaseOptions {
  url: string;
  poolMax: number;
  /** A connection was lost while no request was waiting for it. */
  onConnectionError: (error: Error) => void;
  /** `false` for migrations, which take the time they take. */
  timeouts?: boolean;
}

/** Opens no connection yet: the first query does. Close it with `destroy()`. */
export function openDatabase<Tables>({
  url,
  poolMax,
  onConnectionError,
  timeouts = true,
}: DatabaseOptions): Kysely<Tables> {
  const types = new pg.TypeOverrides();
  // Ids and counts: exact up to 2^53, which no table here reaches.
  types.setTypeParser(pg.types.builtins.INT8, Number);

  types.setTypeParser(pg.types.builtins.TIMESTAMPTZ, isoTimestamp);
  const pool = new pg.Pool({
    options: '-c TimeZone=UTC',
    connectionString: url,
    max: poolMax,
    keepAlive: true,
    types,
    connectionTimeoutMillis: CONNECTION_TIMEOUT_MS,
    ...(timeouts ? { statement_timeout: STATEMENT_TIMEOUT_MS, query_timeout: UNRESPONSIVE_MS } : {}),
  });
  // Without a listener of its own, a client that is in use when the server goes away ends the process.
  pool.on('connect', (client) => client.on('error', onConnectionError));
  pool.on('error', onConnectionError);

  return new Kysely<Tables>({
    dialect: new PostgresDialect({
      pool: {
        connect: async () => discardIfBroken(await pool.connect().catch(rethrowWithCode)),
        end: () => pool.end(),
        options: pool.options,
      },
    }),
  });
}

/**
 * A connection that the server has ended, or on which it has not answered, can't be used again: what it still sends
 * would answer the wrong query.
 */
function discardIfBroken(client: pg.PoolClient): PostgresPoolClient {
  let broken = false;
  const query = (sql: string, parameters: readonly unknown[]) =>
    client.query(sql, [...parameters]).catch((error: unknown) => {
      broken ||= !(error instanceof pg.DatabaseError) || error.severity === 'FATAL';
      return rethrowWithCode(error);
    });
  return {
    query: query as unknown as PostgresPoolClient['query'],
    release: (discard) => client.release(discard || broken),
  };
}

/** Gives the driver's own errors, which have none, the code of what happened: no answer in time, or a lost connection. */
function rethrowWithCode(error: unknown): never {
  const failure = error as Error & { code?: string };
  failure.code ??= failure.message.includes('timeout') ? 'ETIMEDOUT' : 'ECONNRESET';
  throw failure;
}

/** PostgreSQL's `2026-11-20 18:30:00.5+00` as `2026-11-20T18:30:00.500Z`, without the detour through a Date, which takes longer than the rest of a row. */
function isoTimestamp(text: string) {
  if (!text.endsWith('+00')) return new Date(text).toISOString();
  return `${text.slice(0, 10)}T${text.slice(11, 19)}.${text.slice(20, -3).padEnd(3, '0').slice(0, 3)}Z`;
}
