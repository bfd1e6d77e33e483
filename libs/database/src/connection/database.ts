import { Kysely, PostgresDialect, type PostgresPoolClient, type QueryExecutorProvider } from 'kysely';
import { Distribution } from '../distribution.ts';
import { hasParameters } from './client-config.ts';
import { LockWaits } from './lock-waits.ts';
import { SessionPool, type SessionPoolOptions } from './session-pool.ts';
import type { Value } from './session.ts';
import type { Statement } from './statement.ts';

export interface DatabaseOptions extends SessionPoolOptions {
  /** Where `read` reads, by a second pool. */
  readsFrom?: Pick<SessionPoolOptions, 'url' | 'readPassword'> | undefined;
  /** Expired idempotency keys stay until a later deletion. */
  onKeysNotDeleted?: (error: unknown) => void;
}

/** Numbers of requests: the largest write shares among 64. */
const SHARING_BOUNDS = [1, 2, 4, 8, 16, 32, 64];

/** In seconds: from a free connection to the longest wait of a request, which ends at 1 s, and those of a busy event loop. */
const WAIT_BOUNDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5];

/** Age of a write that still shows that the server takes writes. */
const RECENT_MS = 1_000;

/**
 * A pool of connections. Opens none before the first statement; close it with `destroy()`. Statements throw an OverloadedError when too
 * many requests wait for a connection, or when they have waited for a second.
 */
export class Database<Tables> implements QueryExecutorProvider {
  /** For statements that are rare or made at run time, transactions and migrations; at the primary. */
  readonly kysely: Kysely<Tables>;
  /** Sessions have parameters of their own: no pooler stands before the server. */
  readonly supportsSessionState: boolean;
  readonly poolMax: number;
  readonly lockWaits: LockWaits;
  readonly onKeysNotDeleted: (error: unknown) => void;
  /** Seconds that each statement or transaction has waited for its connection, those of `read` included. */
  readonly poolWaits = new Distribution(WAIT_BOUNDS);
  /** Number of requests in each statement that requests may share. */
  readonly requestsPerStatement = new Distribution(SHARING_BOUNDS);
  readonly #sessions: SessionPool;
  /** The pool of `#sessions`, unless reads go elsewhere. */
  readonly #reads: SessionPool;
  #writtenAt = -Infinity;

  constructor({ readsFrom, ...options }: DatabaseOptions) {
    this.#sessions = new SessionPool(options, this.poolWaits);
    this.#reads = readsFrom
      ? new SessionPool({ ...options, readPassword: undefined, ...readsFrom }, this.poolWaits)
      : this.#sessions;
    this.kysely = new Kysely({ dialect: dialectOf(this.#sessions) });
    this.supportsSessionState = hasParameters(options);
    this.poolMax = options.poolMax;
    this.lockWaits = new LockWaits(options.poolMax);
    this.onKeysNotDeleted = options.onKeysNotDeleted ?? (() => undefined);
  }

  /** Lets `sql` of Kysely execute on a Database. */
  getExecutor() {
    return this.kysely.getExecutor();
  }

  async write<Row>(statement: Statement<Row>, values: readonly Value[]) {
    const result = await this.#sessions.sendStatement(statement, values);
    this.#writtenAt = performance.now();
    return result;
  }

  /** Runs a statement that only reads; it may be late by what `readsFrom` is late. */
  read<Row>(statement: Statement<Row>, values: readonly Value[]) {
    return this.#reads.sendStatement(statement, values);
  }

  readFromPrimary<Row>(statement: Statement<Row>, values: readonly Value[]) {
    return this.#sessions.sendStatement(statement, values);
  }

  async destroy() {
    await Promise.all([...new Set([this.#sessions, this.#reads])].map((pool) => pool.end()));
  }

  /** Whether `read` shows all that has been committed. */
  get readsAtPrimary() {
    return this.#reads === this.#sessions;
  }

  /** Connections of the pool by state, and requests that wait for one. */
  get poolUse() {
    const { waiting, pool } = this.#sessions;
    return { inUse: pool.totalCount - pool.idleCount, idle: pool.idleCount, waiting };
  }

  /** Whether a write and a read have succeeded in the last second. */
  get isServing() {
    return performance.now() - this.#writtenAt < RECENT_MS && this.#sessions.isResponding && this.#reads.isResponding;
  }

  /** Number of connections that the server has ended, or on which it did not respond. */
  get lostConnections() {
    return this.#sessions.lostConnections + (this.#reads === this.#sessions ? 0 : this.#reads.lostConnections);
  }
}

/** Kysely over the sessions of a pool, without cursors, which nothing here uses. */
const dialectOf = (sessions: SessionPool) =>
  new PostgresDialect({
    pool: {
      connect: async () => {
        const session = await sessions.connect();
        return {
          query: (text: string, values: readonly unknown[]) => session.query({ text }, values),
          release: () => session.release(),
        } as unknown as PostgresPoolClient;
      },
      end: () => sessions.end(),
      options: sessions.pool.options,
    },
  });
