import { setImmediate as endOfTurn } from 'node:timers/promises';
import { overloaded } from '@rest-services/errors';
import { Kysely, PostgresAdapter, PostgresDialect, type PostgresPoolClient } from 'kysely';
import pg from 'pg';
import { parseIntoClientConfig } from 'pg-connection-string';
import { codeOf, discardIfBroken, rethrowWithCode } from './connection.ts';
import { places, type Places } from './places.ts';

/** Maximum wait of a request for a connection, new or out of the pool: its statement may take 1.4 s after that. */
const MAX_WAIT_MS = 1_000;

/**
 * Timeout for a connection: longer than PostgreSQL lets a statement run, so that a server that is only busy has ended one by then.
 * A new connection that takes longer than `MAX_WAIT_MS` serves the requests after the one that has waited for it.
 */
const CONNECTION_TIMEOUT_MS = 1_500;

/** Age of an answer that still shows that the server can be reached. */
const RECENT_MS = 1_000;

/** A migration has no caller who would give up. */
const PATIENT_CONNECTION_TIMEOUT_MS = 10_000;

/**
 * A connection is closed when nobody has used it for so long. A new one takes longer than a request, and is slow at first, since
 * its process has none of the table's pages at hand: measured, when all are new, 64 clients get half as many answers in the
 * first half second.
 */
const IDLE_CONNECTION_MS = 300_000;

/**
 * Maximum age of a connection. Otherwise, after a switch-over that closes no session, reads go on at the old primary. It is closed
 * when it is released, so no statement fails; ten new ones in ten minutes cost next to nothing.
 */
const MAX_LIFETIME_SECONDS = 600;

/** PostgreSQL ends a statement after this time. */
const STATEMENT_TIMEOUT_MS = 1_400;

/** Without a limit of time, a server that has vanished is noticed this long, and ten seconds, after it fell silent. */
const KEEP_ALIVE_MS = 30_000;

/** So many requests may wait for each connection of the pool; more would wait longer than they may. */
const WAITING_PER_CONNECTION = 100;

/** SQLSTATE with which poolers such as PgBouncer refuse a session that begins with parameters they do not know. */
export const REFUSED_PARAMETERS = '08P01';

/**
 * Whatever a server, a database or a role has for defaults. PostgreSQL looks every second whether the client of a running
 * statement is still there: a migration that goes on without one keeps the lock.
 */
const SESSION = String.raw`-c TimeZone=UTC -c DateStyle=ISO -c default_transaction_isolation=read\ committed -c client_connection_check_interval=1s`;

/**
 * What a session has locked is free again some seconds after its service has been frozen, or cut off by the network in the
 * middle of a transaction; and its place a minute after that.
 */
const ABANDONED = '-c tcp_keepalives_idle=30 -c tcp_keepalives_interval=10 -c tcp_keepalives_count=3';

/** The pool itself closes what is idle. A server that did would do it while a request is about to use the connection. */
const FOR_REQUESTS = `${ABANDONED} -c idle_in_transaction_session_timeout=3s -c idle_session_timeout=0`;

/** A session of a migration that lacks it has not begun with the parameters below: a pooler has ignored them. */
export const IDLE_MIGRATION_TIMEOUT = '10s';

/** A migration asks something all the time, or waits for an answer. The lock is held outside its transaction, too, for a moment. */
const FOR_MIGRATIONS = `${ABANDONED} -c idle_in_transaction_session_timeout=10s -c idle_session_timeout=${IDLE_MIGRATION_TIMEOUT} -c statement_timeout=0 -c lock_timeout=0`;

/**
 * Every statement of a request has an index. A plan that was made while the table was empty would not use it, and a
 * prepared statement keeps its plan until the table is analysed, however much the table grows meanwhile. And none runs
 * long enough for JIT compilation to pay off, which PostgreSQL does each time when it expects many rows.
 */
const PLANS = '-c enable_seqscan=off -c jit=off';

export interface DatabaseOptions {
  url: string;
  /** Name that PostgreSQL shows for the sessions, unless `url` or PGAPPNAME says another. */
  applicationName?: string;
  /**
   * `false` where a pooler stands before the server: it would refuse parameters at the start of a session. There are no
   * prepared statements and no time limits of the server's own then.
   */
  direct?: boolean;
  /** Connections at the most. While 100 queries for each of them wait, further ones throw an HttpError 503. */
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

interface Connections {
  pool: pg.Pool;
  /** When the server last answered a statement, successfully or not; `isLost` if it has failed to since. */
  answer: { at: number; isLost: boolean };
  /** Names by text of the statements that the server is to plan just once for each connection. */
  names: Map<string, string>;
  /** For statements that may wait for a lock of somebody else: the others keep half of the connections. */
  forLocks: Places;
  connect: () => Promise<PostgresPoolClient>;
}

/** By the Kysely that `openDatabase` has returned, which has no place for it. */
const opened = new WeakMap<object, Connections>();

/** @returns `undefined` for a transaction, which has its connection */
export const connectionsOf = <Tables>(db: Kysely<Tables>) => opened.get(db);

/**
 * What a connection string such as `postgres://user:password@host:5432/database?sslmode=verify-full` says.
 * @throws Error when no connection can be made with it: its port is out of range, or a certificate that it names can't
 * be read
 */
export function parseConnectionUrl(url: string): pg.ClientConfig {
  const config = parseIntoClientConfig(url);
  const { port = 5_432 } = config;
  if (port < 1 || port > 65_535) throw new Error(`Invalid port: ${port}`);
  return config;
}

/** @param db what `openDatabase` has returned */
export function poolUse<Tables>(db: Kysely<Tables>): PoolUse {
  const { totalCount, idleCount, waitingCount } = connectionsOf(db)!.pool;
  return { inUse: totalCount - idleCount, idle: idleCount, waiting: waitingCount };
}

/**
 * Whether the server has answered a statement in the last second, and none has failed without an answer since.
 * @param db what `openDatabase` has returned
 */
export function isAnswering<Tables>(db: Kysely<Tables>) {
  const { at, isLost } = connectionsOf(db)!.answer;
  return !isLost && performance.now() - at < RECENT_MS;
}

/**
 * Whether statements can be prepared, and are planned as the services need it: behind a pooler they can't.
 * @param db what `openDatabase` has returned
 */
export const isDirect = <Tables>(db: Kysely<Tables>) => connectionsOf(db)?.pool.options.options !== undefined;

/**
 * Opens no connection yet: the first query does. Close it with `destroy()`. While more is asked for than the
 * connections can do, queries throw an HttpError 503 at once.
 */
export function openDatabase<Tables>({
  url,
  applicationName,
  direct = true,
  poolMax,
  onConnectionError,
  timeouts = true,
}: DatabaseOptions): Kysely<Tables> {
  const types = new pg.TypeOverrides();
  // Ids and counts: exact up to 2^53, which no table here reaches.
  types.setTypeParser(pg.types.builtins.INT8, Number);

  types.setTypeParser(pg.types.builtins.TIMESTAMPTZ, isoTimestamp);
  const given = parseConnectionUrl(url);
  const pool = new pg.Pool({
    fallback_application_name: applicationName,
    ...given,
    ...(direct
      ? { options: [given.options ?? '', SESSION, ...(timeouts ? [FOR_REQUESTS, PLANS] : [FOR_MIGRATIONS])].join(' ') }
      : {}),
    max: poolMax,
    idleTimeoutMillis: IDLE_CONNECTION_MS,
    maxLifetimeSeconds: MAX_LIFETIME_SECONDS,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
    types,
    connectionTimeoutMillis: timeouts ? CONNECTION_TIMEOUT_MS : PATIENT_CONNECTION_TIMEOUT_MS,
    ...(timeouts && direct ? { statement_timeout: STATEMENT_TIMEOUT_MS } : {}),
  });
  const names: Connections['names'] = new Map();

  const answer: Connections['answer'] = { at: -Infinity, isLost: false };
  const onAnswer = () => {
    answer.at = performance.now();
    answer.isLost = false;
  };
  const onFailure = () => (answer.isLost = true);

  // Without a listener of its own, a client that is in use when the server goes away ends the process. The pool would
  // report the loss of an idle one once more.
  pool.on('connect', (client) =>
    client.on('error', (error) => {
      onFailure();
      onConnectionError(error);
    }),
  );
  pool.on('error', () => undefined);

  async function connect(isRetry = false): Promise<PostgresPoolClient> {
    if (pool.waitingCount >= poolMax * WAITING_PER_CONNECTION) throw overloaded();
    const askedAt = performance.now();
    let client: pg.PoolClient;
    try {
      client = await pool.connect();
    } catch (error) {
      // There is a pooler before the server, though nobody has said so. Migrations must not go through it.
      if (timeouts && !isRetry && codeOf(error) === REFUSED_PARAMETERS) {
        withoutParameters(pool.options);
        return connect(true);
      }
      // An event loop that was late reads the answers that have arrived before the timeout.
      await endOfTurn();
      // The others got answers meanwhile: there is nothing wrong with the server, there is just too much to do.
      if (isTimeout(error) && answer.at > askedAt) throw overloaded();
      onFailure();
      return rethrowWithCode(error);
    }
    if (timeouts && performance.now() - askedAt > MAX_WAIT_MS) {
      client.release();
      throw overloaded();
    }
    return discardIfBroken(client, {
      timeouts,
      names: isDirect(db) ? names : undefined,
      onAnswer,
      onFailure,
      onOtherSession: () => withoutParameters(pool.options),
    });
  }

  const dialect = new PostgresDialect({
    pool: { connect: () => connect(), end: () => pool.end(), options: pool.options },
  });
  dialect.createAdapter = () => new MigrationLockAdapter();
  const db = new Kysely<Tables>({ dialect });
  opened.set(db, { pool, answer, names, forLocks: places(Math.ceil(poolMax / 2)), connect: () => connect() });
  return db;
}

/** A session that was lost in a migration has no lock to give back: what is thrown is why it was lost. */
class MigrationLockAdapter extends PostgresAdapter {
  override async releaseMigrationLock(...args: Parameters<PostgresAdapter['releaseMigrationLock']>) {
    await super.releaseMigrationLock(...args).catch(() => undefined);
  }
}

/** For the connections that are opened from now on. */
function withoutParameters(options: pg.PoolOptions) {
  delete options.options;
  delete options.statement_timeout;
}

/** What pg's pool throws when none of its connections has become free in time, or a new one was not ready in time. */
const isTimeout = (error: unknown) => /timeout exceeded|connection timeout/.test((error as Error).message);

/** PostgreSQL's `2026-11-20 18:30:00.5+00` as `2026-11-20T18:30:00.500Z`, without the detour through a Date, which takes longer than the rest of a row. */
function isoTimestamp(text: string) {
  if (!text.endsWith('+00')) return new Date(text).toISOString();
  return `${text.slice(0, 10)}T${text.slice(11, 19)}.${text.slice(20, -3).padEnd(3, '0').slice(0, 3)}Z`;
}
