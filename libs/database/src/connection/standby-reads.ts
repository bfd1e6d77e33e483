import { OverloadedError } from '@rest-services/errors';
import { sql } from 'kysely';
import { errorCode, SQLSTATE } from '../sqlstate.ts';
import { SessionPool, type SessionPoolOptions } from './session-pool.ts';
import type { Value } from './session.ts';
import { prepared, type Statement } from './statement.ts';

/** Age at which the next read checks again, without waiting for it. */
const CHECK_MS = 1_000;

/** Maximum age of a check by which reads go to the standby. */
const VALID_MS = 2_000;

/** Why reads go to the primary; `undefined` while they go to the standby. */
export type Obstacle = 'not checked' | 'unreachable' | 'not a standby' | 'not synchronous with remote_apply';

/**
 * Reads from a standby where it shows every acknowledged write: where each commit of the primary waits until this standby has applied
 * it. While it does not, and when the standby fails, the same statement runs at the primary. A busy standby refuses reads itself.
 */
export class StandbyReads {
  readonly #primary: SessionPool;
  readonly #standby: SessionPool;
  /** A connection to each for the checks, which must not wait behind requests. */
  readonly #checks: { primary: SessionPool; standby: SessionPool };
  readonly #onChange: (obstacle: Obstacle | undefined) => void;
  #obstacle: Obstacle | undefined = 'not checked';
  #checkedAt = -Infinity;
  #checking: Promise<void> | undefined;

  /**
   * @param options those of `primary`
   * @param standby what is different for the standby
   */
  constructor(
    primary: SessionPool,
    { url, readPassword, pooler, poolMax, applicationName, onConnectionError }: SessionPoolOptions,
    standby: Pick<SessionPoolOptions, 'url' | 'readPassword'>,
    onChange: (obstacle: Obstacle | undefined) => void,
  ) {
    const shared = { pooler, applicationName, onConnectionError };
    this.#primary = primary;
    this.#standby = new SessionPool({ ...standby, ...shared, poolMax, waits: primary.waits });
    this.#checks = {
      primary: new SessionPool({ url, ...(readPassword ? { readPassword } : {}), ...shared, poolMax: 1 }),
      standby: new SessionPool({ ...standby, ...shared, poolMax: 1 }),
    };
    this.#onChange = onChange;
  }

  /** Whether the next read goes to the standby. */
  get isUsed() {
    return this.#obstacle === undefined && performance.now() - this.#checkedAt < VALID_MS;
  }

  async sendRead<Row>(statement: Statement<Row>, values: readonly Value[]) {
    if (performance.now() - this.#checkedAt > CHECK_MS) void this.check();
    if (this.isUsed) {
      try {
        return await this.#standby.sendStatement(statement, values);
      } catch (error) {
        // The primary would take as long, and may have no time for the reads of a busy standby.
        if (errorCode(error) === SQLSTATE.QUERY_CANCELED || error instanceof OverloadedError) throw error;
        if (!this.#standby.health.isReachable) this.#report('unreachable');
      }
    }
    return this.#primary.sendStatement(statement, values);
  }

  /** Checks both servers; concurrent calls share one check. */
  async check(): Promise<void> {
    this.#checking ??= this.#check().finally(() => (this.#checking = undefined));
    return this.#checking;
  }

  async end() {
    await Promise.all([this.#standby, this.#checks.primary, this.#checks.standby].map((pool) => pool.end()));
  }

  async #check() {
    const startedAt = performance.now();
    const [primary, standby] = await Promise.allSettled([
      this.#checks.primary.sendStatement(COMMIT_SETTINGS, []),
      this.#checks.standby.sendStatement(STANDBY_NAME, []),
    ]);
    const isKnown = primary.status === 'fulfilled' && !isBusy(standby);
    if (isKnown) {
      this.#report(
        standby.status === 'fulfilled' ? obstacleOf(primary.value.rows[0]!, standby.value.rows[0]!) : 'unreachable',
      );
      this.#checkedAt = startedAt;
    } else if (!this.isUsed) this.#report('not checked');
  }

  #report(obstacle: Obstacle | undefined) {
    if (obstacle === this.#obstacle) return;
    this.#obstacle = obstacle;
    this.#onChange(obstacle);
  }
}

const isBusy = (check: PromiseSettledResult<unknown>) =>
  check.status === 'rejected' && check.reason instanceof OverloadedError;

interface CommitSettings {
  commit: string;
  names: string;
}

interface StandbyName {
  isStandby: boolean;
  name: string;
}

const COMMIT_SETTINGS = prepared<CommitSettings>(sql`
  select current_setting('synchronous_commit') as commit, current_setting('synchronous_standby_names') as names`);

/** The name under which a standby streams; only members of `pg_read_all_stats` see it. Its default is the name of the cluster. */
const STANDBY_NAME = prepared<StandbyName>(sql`
  select pg_is_in_recovery() as "isStandby", coalesce(
    (select substring(conninfo from 'application_name=''?([^'' ]+)') from pg_stat_wal_receiver),
    current_setting('cluster_name')
  ) as name`);

function obstacleOf({ commit, names }: CommitSettings, { isStandby, name }: StandbyName): Obstacle | undefined {
  if (!isStandby) return 'not a standby';
  const isApplied = commit === 'remote_apply' && requiredStandbys(names).includes(name.toLowerCase());
  return isApplied ? undefined : 'not synchronous with remote_apply';
}

/**
 * The standbys for which each commit waits, in lower case.
 * @param names `synchronous_standby_names`, such as `FIRST 2 (a, b)`; of `ANY 1 (a, b)`, a commit waits for either
 */
export function requiredStandbys(names: string): string[] {
  const [, count, list] = /^\s*(?:(?:first|any)?\s*(\d+)\s*\((.*)\)|.*)\s*$/i.exec(names)!;
  const standbys = Array.from((list ?? names).matchAll(/"((?:[^"]|"")*)"|[^\s,"]+/g), ([word, quoted]) =>
    (quoted?.replaceAll('""', '"') ?? word).toLowerCase(),
  );
  return Number(count ?? 1) >= standbys.length && !standbys.includes('*') ? standbys : [];
}
