import { Semaphore } from '@rest-services/concurrency';
import { Kysely, PostgresAdapter, PostgresDialect, type PostgresPoolClient } from 'kysely';
import { Distribution } from '../distribution.ts';
import { nameOf } from './server/connection-url.ts';
import { SessionPool, type SessionPoolOptions } from './session-pool.ts';
import type { Value } from './session.ts';
import { StandbyReads, type Obstacle } from './standby-reads.ts';

export interface DatabaseOptions extends SessionPoolOptions {
  /** Leads to a standby, for `read`. */
  standby?: Pick<SessionPoolOptions, 'url' | 'readPassword'>;
  /** Reads go to the standby from now on, or to the primary because of this obstacle. */
  onStandbyChange?: (obstacle: Obstacle | undefined) => void;
}

/** Numbers of requests: the largest write shares among 64. */
const SHARING_BOUNDS = [1, 2, 4, 8, 16, 32, 64];

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
  /** Number of requests in each statement that requests may share. */
  readonly requestsPerStatement = new Distribution(SHARING_BOUNDS);
  readonly #sessions: SessionPool;
  readonly #standby: SessionPool | undefined;
  readonly #standbyReads: StandbyReads | undefined;

  constructor(options: DatabaseOptions) {
    const sessions = new SessionPool(options);
    super({ dialect: new Dialect(sessions) });
    this.#sessions = sessions;
    this.supportsSessionState = options.pooler === undefined;
    const { standby, onStandbyChange = () => undefined } = options;
    if (standby) {
      const { waits } = sessions;
      const { pooler, poolMax, applicationName, onConnectionError } = options;
      this.#standby = new SessionPool({ ...standby, pooler, poolMax, applicationName, onConnectionError, waits });
      this.#standbyReads = new StandbyReads(sessions, this.#standby, onStandbyChange);
    }
    this.poolMax = options.poolMax;
    this.lockWaits = new Semaphore(Math.ceil(options.poolMax / 2));
  }

  /** Runs one statement without Kysely's own way to a result. @param name prepares the statement once per session */
  run<Row>(text: string, values: readonly Value[], name?: string) {
    return this.#sessions.query<Row>(text, values, name);
  }

  /** As `run`, for a statement that only reads: at the standby while it shows every acknowledged write. */
  read<Row>(text: string, values: readonly Value[], name?: string) {
    return (this.#standbyReads ?? this.#sessions).query<Row>(text, values, name);
  }

  /** Checks whether reads may go to the standby; without one, does nothing. */
  async checkStandby() {
    await this.#standbyReads?.check();
  }

  /** Whether reads go to the standby; `undefined` without one. */
  get readsFromStandby() {
    return this.#standbyReads?.isUsed;
  }

  override async destroy() {
    await Promise.all([super.destroy(), this.#standby?.pool.end()]);
  }

  get poolUse(): PoolUse {
    const { totalCount, idleCount, waitingCount } = this.#sessions.pool;
    return { inUse: totalCount - idleCount, idle: idleCount, waiting: waitingCount };
  }

  /** Seconds that each statement or transaction has waited for its connection, at the standby, too. */
  get poolWaits() {
    return this.#sessions.waits;
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
