import { Semaphore } from '@rest-services/concurrency';
import { Kysely, PostgresAdapter, PostgresDialect, type PostgresPoolClient } from 'kysely';
import { nameOf } from './server/connection-url.ts';
import { SessionPool, type SessionPoolOptions } from './session-pool.ts';
import type { Value } from './session.ts';

export type DatabaseOptions = SessionPoolOptions;

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
  /** Sessions have parameters of their own: no pooler stands before the server. */
  readonly supportsSessionState: boolean;
  readonly poolMax: number;
  /** Limits the statements that may wait for a lock: the others keep half of the connections. */
  readonly lockWaits: Semaphore;
  readonly #sessions: SessionPool;
  readonly #isPrepared: boolean;

  constructor(options: DatabaseOptions) {
    const sessions = new SessionPool(options);
    super({ dialect: new Dialect(sessions) });
    this.#sessions = sessions;
    this.supportsSessionState = options.pooler === undefined;
    this.#isPrepared = options.pooler !== 'transaction';
    this.poolMax = options.poolMax;
    this.lockWaits = new Semaphore(Math.ceil(options.poolMax / 2));
  }

  /** Runs one statement without Kysely's own way to a result. @param name prepares the statement once per session */
  async run<Row>(text: string, values: readonly Value[], name?: string) {
    const session = await this.#sessions.connect();
    try {
      return await session.query<Row>(text, values, this.#isPrepared ? name : undefined);
    } finally {
      session.release();
    }
  }

  get poolUse(): PoolUse {
    const { totalCount, idleCount, waitingCount } = this.#sessions.pool;
    return { inUse: totalCount - idleCount, idle: idleCount, waiting: waitingCount };
  }

  /** Whether a server that takes writes has responded in the last second, and has not been lost since. */
  get isResponding() {
    return this.#sessions.isResponding;
  }

  /** Whether the last server that responded takes no writes. */
  get isReadOnly() {
    return this.#sessions.isReadOnly;
  }

  /** Host and port of the selected server. */
  get server() {
    return nameOf(this.#sessions.server);
  }

  /** Number of connections that the server has ended, or on which it did not respond. */
  get lostConnections() {
    return this.#sessions.lostConnections;
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
