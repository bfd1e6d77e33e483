import { Kysely, PostgresAdapter, PostgresDialect, type PostgresPoolClient, type QueryExecutorProvider } from 'kysely';
import { Distribution } from '../distribution.ts';
import { LockWaits } from './lock-waits.ts';
import { nameOf } from './server/connection-url.ts';
import { SessionPool, type SessionPoolOptions } from './session-pool.ts';
import type { Value } from './session.ts';
import { StandbyReads, type Obstacle } from './standby-reads.ts';
import type { Statement } from './statement.ts';

export interface DatabaseOptions extends SessionPoolOptions {
  /** Leads to a standby, for `read`. */
  standby?: Pick<SessionPoolOptions, 'url' | 'readPassword'>;
  /** Reads go to the standby from now on, or to the primary because of this obstacle. */
  onStandbyChange?: (obstacle: Obstacle | undefined) => void;
}

/** Numbers of requests: the largest write shares among 64. */
const SHARING_BOUNDS = [1, 2, 4, 8, 16, 32, 64];

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
  /** Number of requests in each statement that requests may share. */
  readonly requestsPerStatement = new Distribution(SHARING_BOUNDS);
  readonly #sessions: SessionPool;
  readonly #standbyReads: StandbyReads | undefined;

  constructor(options: DatabaseOptions) {
    const { standby, onStandbyChange = () => undefined } = options;
    this.#sessions = new SessionPool(options);
    this.#standbyReads = standby && new StandbyReads(this.#sessions, options, standby, onStandbyChange);
    this.kysely = new Kysely({ dialect: new Dialect(this.#sessions) });
    this.supportsSessionState = options.pooler === undefined;
    this.poolMax = options.poolMax;
    this.lockWaits = new LockWaits(options.poolMax);
  }

  /** Lets `sql` of Kysely execute on a Database. */
  getExecutor() {
    return this.kysely.getExecutor();
  }

  /** @throws OverloadedError while half of the connections wait in the database for a commit */
  write<Row>(statement: Statement<Row>, values: readonly Value[]) {
    return this.#sessions.sendWrite(statement, values);
  }

  /** Runs a statement that only reads: at the standby while it shows every acknowledged write. */
  read<Row>(statement: Statement<Row>, values: readonly Value[]) {
    return this.#standbyReads
      ? this.#standbyReads.sendRead(statement, values)
      : this.#sessions.sendStatement(statement, values);
  }

  readFromPrimary<Row>(statement: Statement<Row>, values: readonly Value[]) {
    return this.#sessions.sendStatement(statement, values);
  }

  /** Checks whether reads may go to the standby; without one, does nothing. */
  async checkStandby() {
    await this.#standbyReads?.check();
  }

  /** Whether reads go to the standby; `undefined` without one. */
  get readsFromStandby() {
    return this.#standbyReads?.isUsed;
  }

  async destroy() {
    await Promise.all([this.#sessions.end(), this.#standbyReads?.end()]);
  }

  /** Connections of the pool by state, and requests that wait for one. */
  get poolUse() {
    const { totalCount, idleCount, waitingCount } = this.#sessions.pool;
    return { inUse: totalCount - idleCount, idle: idleCount, waiting: waitingCount };
  }

  /** Seconds that each statement or transaction has waited for its connection, at the standby, too. */
  get poolWaits() {
    return this.#sessions.waits;
  }

  /** What responses and lost connections tell about the server that takes the writes. */
  get health() {
    return this.#sessions.health;
  }

  /** Number of connections whose statement did not end in time, and may be running still. */
  get abandonedSessions() {
    return this.#sessions.abandoned.count;
  }

  /** Whether writes are refused because half of the connections wait in the database. */
  get refusesWrites() {
    return this.#sessions.abandoned.refusesWrites;
  }

  /** Host and port of the selected server. */
  get server() {
    return nameOf(this.#sessions.server);
  }
}

/** Kysely over the sessions of a pool. */
class Dialect extends PostgresDialect {
  constructor(sessions: SessionPool) {
    super({
      pool: {
        // Without cursors, which nothing here uses.
        connect: async () => {
          sessions.refuseWrites();
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
  }

  override createAdapter() {
    return new MigrationLockAdapter();
  }
}

/** A session that was lost in a migration has no lock to release. That error would hide why it was lost. */
class MigrationLockAdapter extends PostgresAdapter {
  override async releaseMigrationLock(...args: Parameters<PostgresAdapter['releaseMigrationLock']>) {
    await super.releaseMigrationLock(...args).catch(() => undefined);
  }
}
