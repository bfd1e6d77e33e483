import { setImmediate as endOfTurn } from 'node:timers/promises';
import { Semaphore } from '@rest-services/concurrency';
import { overloaded } from '@rest-services/errors';
import { Kysely, PostgresAdapter, PostgresDialect, type PostgresPoolClient } from 'kysely';
import pg from 'pg';
import { CONNECT_MS, CONNECTION_WAIT_MS, STATEMENT_MS } from '../time-budget.ts';
import { parseConnectionUrl } from './connection-url.ts';
import { isPoolTimeout, withErrorCode } from './errors.ts';
import { MIGRATION_PARAMETERS, REQUEST_PARAMETERS } from './session-parameters.ts';
import { Session, type Value } from './session.ts';

/** Timeout for a connection of a migration, which no client waits for. */
const MIGRATION_CONNECT_MS = 10_000;

/**
 * An idle connection is closed after this time. A new one is slow at first: when all are new, 64 clients get half as many responses in
 * the first half second.
 */
const IDLE_MS = 300_000;

/** Maximum age of a connection. Otherwise, after a switch-over that closes no session, reads go on at the old primary. */
const MAX_LIFETIME_SECONDS = 600;

/** A vanished server is noticed by a session without timeout 10 s after this time. */
const KEEP_ALIVE_MS = 30_000;

/** Maximum number of requests that wait, per connection. More would wait longer than `CONNECTION_WAIT_MS`. */
const WAITING_PER_CONNECTION = 100;

/** Age of a response that still shows that the server can be reached. */
const RECENT_MS = 1_000;

export interface DatabaseOptions {
  url: string;
  /** Name that PostgreSQL shows for the sessions, unless `url` or PGAPPNAME has one. */
  applicationName?: string;
  /**
   * `false` behind a transaction pooler, which refuses session parameters. Statements are then not prepared and
   * have no timeout of PostgreSQL.
   */
  supportsSessionState?: boolean;
  /** Maximum number of connections. */
  poolMax: number;
  /** A connection was lost that no request was waiting for. */
  onConnectionError: (error: Error) => void;
  /** `false` for migrations. */
  hasTimeouts?: boolean;
}

/** Connections of a pool by state, and requests that wait for one. */
export interface PoolUse {
  inUse: number;
  idle: number;
  waiting: number;
}

/**
 * A Kysely over a pool of connections. Opens no connection before the first query; close it with `destroy()`. Queries throw an
 * OverloadedError when too many requests wait for a connection, or when they have waited for a second.
 */
export class Database<Tables> extends Kysely<Tables> {
  readonly supportsSessionState: boolean;
  readonly poolMax: number;
  /** Limits the statements that may wait for a lock: the others keep half of the connections. */
  readonly lockWaits: Semaphore;
  readonly #sessions: SessionPool;

  constructor(options: DatabaseOptions) {
    const sessions = new SessionPool(options);
    super({ dialect: new Dialect(sessions) });
    this.#sessions = sessions;
    this.supportsSessionState = options.supportsSessionState ?? true;
    this.poolMax = options.poolMax;
    this.lockWaits = new Semaphore(Math.ceil(options.poolMax / 2));
  }

  /** Runs one statement without Kysely's own way to a result. @param name prepares the statement once per session */
  async run<Row>(text: string, values: readonly Value[], name?: string) {
    const session = await this.#sessions.connect();
    try {
      return await session.query<Row>(text, values, this.supportsSessionState ? name : undefined);
    } finally {
      session.release();
    }
  }

  get poolUse(): PoolUse {
    const { totalCount, idleCount, waitingCount } = this.#sessions.pool;
    return { inUse: totalCount - idleCount, idle: idleCount, waiting: waitingCount };
  }

  /** Whether the server has responded to a statement in the last second, and has not been lost since. */
  get isResponding() {
    return this.#sessions.isResponding;
  }
}

class SessionPool {
  readonly pool: pg.Pool;
  readonly #hasTimeouts: boolean;
  readonly #maxWaiting: number;
  #respondedAt = -Infinity;
  #isLost = false;

  constructor({
    url,
    applicationName,
    supportsSessionState = true,
    poolMax,
    onConnectionError,
    hasTimeouts = true,
  }: DatabaseOptions) {
    const given = parseConnectionUrl(url);
    const parameters = hasTimeouts ? REQUEST_PARAMETERS : MIGRATION_PARAMETERS;
    this.#hasTimeouts = hasTimeouts;
    this.#maxWaiting = poolMax * WAITING_PER_CONNECTION;
    this.pool = new pg.Pool({
      fallback_application_name: applicationName,
      ...given,
      ...(supportsSessionState ? { options: `${given.options ?? ''} ${parameters}` } : {}),
      ...(supportsSessionState && hasTimeouts ? { statement_timeout: STATEMENT_MS } : {}),
      max: poolMax,
      connectionTimeoutMillis: hasTimeouts ? CONNECT_MS : MIGRATION_CONNECT_MS,
      idleTimeoutMillis: IDLE_MS,
      maxLifetimeSeconds: MAX_LIFETIME_SECONDS,
      keepAlive: true,
      keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
      types: resultTypes(),
    });
    // Without a listener, a client that is in use when the server goes away ends the process. The pool reports idle ones once more.
    this.pool.on('connect', (client) =>
      client.on('error', (error) => {
        this.#isLost = true;
        onConnectionError(error);
      }),
    );
    this.pool.on('error', () => undefined);
  }

  get isResponding() {
    return !this.#isLost && performance.now() - this.#respondedAt < RECENT_MS;
  }

  /** @throws OverloadedError on overload, Error with a SQLSTATE or the name of a system error as `code` when the server is lost */
  async connect(): Promise<Session> {
    if (this.pool.waitingCount >= this.#maxWaiting) throw overloaded();
    const requestedAt = performance.now();
    const client = await this.pool.connect().catch((error: unknown) => this.#explain(error, requestedAt));
    if (this.#hasTimeouts && performance.now() - requestedAt > CONNECTION_WAIT_MS) {
      client.release();
      throw overloaded();
    }
    return new Session(client, {
      hasTimeout: this.#hasTimeouts,
      onResponse: () => {
        this.#respondedAt = performance.now();
        this.#isLost = false;
      },
      onLoss: () => (this.#isLost = true),
    });
  }

  async #explain(error: unknown, requestedAt: number): Promise<never> {
    // An event loop that was late reads the responses that have arrived before the timeout.
    await endOfTurn();
    // Other statements have got responses since, so the server is only busy.
    if (isPoolTimeout(error) && this.#respondedAt > requestedAt) throw overloaded();
    this.#isLost = true;
    throw withErrorCode(error);
  }
}

class Dialect extends PostgresDialect {
  constructor(sessions: SessionPool) {
    const { pool } = sessions;
    super({
      pool: {
        // Without cursors, which nothing here uses.
        connect: () => sessions.connect() as unknown as Promise<PostgresPoolClient>,
        end: () => pool.end(),
        options: pool.options,
      },
    });
  }

  override createAdapter() {
    return new MigrationLockAdapter();
  }
}

/** A session that was lost in a migration has no lock to release. Otherwise that error would hide why it was lost. */
class MigrationLockAdapter extends PostgresAdapter {
  override async releaseMigrationLock(...args: Parameters<PostgresAdapter['releaseMigrationLock']>) {
    await super.releaseMigrationLock(...args).catch(() => undefined);
  }
}

/** Ids and counts as numbers, which are exact up to 2^53; timestamps as ISO 8601 in UTC with milliseconds. */
function resultTypes() {
  const types = new pg.TypeOverrides();
  types.setTypeParser(pg.types.builtins.INT8, Number);
  types.setTypeParser(pg.types.builtins.TIMESTAMPTZ, isoTimestamp);
  return types;
}

/** Rewrites `2026-11-20 18:30:00.5+00` as `2026-11-20T18:30:00.500Z`. A Date in between takes longer than the rest of a row. */
function isoTimestamp(text: string) {
  if (!text.endsWith('+00')) return new Date(text).toISOString();
  return `${text.slice(0, 10)}T${text.slice(11, 19)}.${text.slice(20, -3).padEnd(3, '0').slice(0, 3)}Z`;
}
