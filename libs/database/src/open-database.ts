import { HttpError } from '@rest-services/errors';
import { Kysely, PostgresDialect, type PostgresPoolClient } from 'kysely';
import pg from 'pg';

/** A request waits this long for a connection, new or out of the pool. */
const CONNECTION_TIMEOUT_MS = 1_000;

/** A migration has no caller who would give up. */
const PATIENT_CONNECTION_TIMEOUT_MS = 10_000;

/** PostgreSQL ends a statement after this time. */
const STATEMENT_TIMEOUT_MS = 1_400;

/** A server that does not even do that is given up, and so is a transaction that is not over by then. With the wait for a connection that is 2.5 s, where a request may take three. */
const UNRESPONSIVE_MS = 1_500;

const STATEMENT_TIMED_OUT = '57014';

/** So many requests may wait for each connection of the pool; more would wait longer than they may. */
const WAITING_PER_CONNECTION = 100;

/** How often PostgreSQL looks whether the client of a running statement is still there; a migration that goes on without one keeps the lock. */
const CLIENT_CHECK_MS = 1_000;

export interface DatabaseOptions {
  url: string;
  /** `false` where a pooler stands before the server: it would refuse parameters at the start of a session. */
  direct?: boolean;
  poolMax: number;
  /** A connection was lost while no request was waiting for it. */
  onConnectionError: (error: Error) => void;
  /** `false` for migrations, which take the time they take. */
  timeouts?: boolean;
}

/** How many connections of a pool there are in which state, and how many requests wait for one. */
export interface PoolUse {
  inUse: number;
  idle: number;
  waiting: number;
}

const pools = new WeakMap<object, pg.Pool>();

/** @param db what `openDatabase` has returned */
export function poolUse<Tables>(db: Kysely<Tables>): PoolUse {
  const { totalCount, idleCount, waitingCount } = pools.get(db)!;
  return { inUse: totalCount - idleCount, idle: idleCount, waiting: waitingCount };
}

/**
 * Opens no connection yet: the first query does. Close it with `destroy()`. While more is asked for than the
 * connections can do, queries throw an HttpError 503 at once.
 */
export function openDatabase<Tables>({
  url,
  direct = true,
  poolMax,
  onConnectionError,
  timeouts = true,
}: DatabaseOptions): Kysely<Tables> {
  const types = new pg.TypeOverrides();
  // Ids and counts: exact up to 2^53, which no table here reaches.
  types.setTypeParser(pg.types.builtins.INT8, Number);

  types.setTypeParser(pg.types.builtins.TIMESTAMPTZ, isoTimestamp);
  const pool = new pg.Pool({
    connectionString: url,
    ...(direct ? { options: `-c TimeZone=UTC -c client_connection_check_interval=${CLIENT_CHECK_MS}` } : {}),
    max: poolMax,
    keepAlive: true,
    types,
    connectionTimeoutMillis: timeouts ? CONNECTION_TIMEOUT_MS : PATIENT_CONNECTION_TIMEOUT_MS,
    ...(timeouts && direct ? { statement_timeout: STATEMENT_TIMEOUT_MS } : {}),
  });
  // Without a listener of its own, a client that is in use when the server goes away ends the process.
  pool.on('connect', (client) => client.on('error', onConnectionError));
  pool.on('error', onConnectionError);

  /** When the server last answered a statement, successfully or not. */
  let answeredAt = 0;
  const onAnswer = () => (answeredAt = performance.now());

  async function connect() {
    if (pool.waitingCount >= poolMax * WAITING_PER_CONNECTION) throw overloaded();
    const askedAt = performance.now();
    try {
      return discardIfBroken(await pool.connect(), timeouts, onAnswer);
    } catch (error) {
      // The others got answers meanwhile: there is nothing wrong with the server, there is just too much to do.
      if (isQueueTimeout(error) && answeredAt > askedAt) throw overloaded();
      return rethrowWithCode(error);
    }
  }

  const dialect = new PostgresDialect({ pool: { connect, end: () => pool.end(), options: pool.options } });
  const db = new Kysely<Tables>({ dialect });
  pools.set(db, pool);
  return db;
}

const overloaded = () => new HttpError(503, 'The service is overloaded, try again in a moment');

/** What pg's pool throws when none of its connections has become free in time. */
const isQueueTimeout = (error: unknown) => (error as Error).message.startsWith('timeout exceeded');

/**
 * A connection that the server has ended, or on which it has not answered, can't be used again: what it still sends
 * would answer the wrong query.
 */
function discardIfBroken(client: pg.PoolClient, timeouts: boolean, onAnswer: () => void): PostgresPoolClient {
  let brokenBy: unknown;
  // All statements of a transaction together: the request waits for all of them.
  const deadline = performance.now() + UNRESPONSIVE_MS;
  const query = async (text: string, parameters: readonly unknown[]) => {
    // A rollback on it would be waited for in vain.
    if (brokenBy) return rethrowWithCode(brokenBy);
    const limit = timeouts ? { query_timeout: Math.max(1, deadline - performance.now()) } : {};
    try {
      const result = await client.query({ text, values: [...parameters], ...limit });
      onAnswer();
      return result;
    } catch (error) {
      if (!(error instanceof pg.DatabaseError) || error.severity === 'FATAL') brokenBy = error;
      // It is busy with somebody else's lock, or not answering at all.
      else if (error.code !== STATEMENT_TIMED_OUT) onAnswer();
      return rethrowWithCode(error);
    }
  };
  return {
    query: query as unknown as PostgresPoolClient['query'],
    release: (discard) => client.release(discard || brokenBy !== undefined),
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
