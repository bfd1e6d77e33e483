import { errorCode, SQLSTATE } from '../sqlstate.ts';
import type { SessionPool } from './session-pool.ts';
import type { Value } from './session.ts';

/** Age at which the next read checks again, without waiting for it. */
const CHECK_MS = 1_000;

/** Maximum age of a check by which reads go to the standby. */
const VALID_MS = 2_000;

/** Why reads go to the primary; `undefined` while they go to the standby. */
export type Obstacle = 'not checked' | 'unreachable' | 'not a standby' | 'not synchronous with remote_apply';

/**
 * Reads from a standby where it shows every acknowledged write: where each commit of the primary waits until this standby has applied
 * it. Otherwise, and when the standby fails, the same statement runs at the primary.
 */
export class StandbyReads {
  readonly #primary: SessionPool;
  readonly #standby: SessionPool;
  readonly #onChange: (obstacle: Obstacle | undefined) => void;
  #obstacle: Obstacle | undefined = 'not checked';
  #checkedAt = -Infinity;
  #checking: Promise<void> | undefined;

  constructor(primary: SessionPool, standby: SessionPool, onChange: (obstacle: Obstacle | undefined) => void) {
    this.#primary = primary;
    this.#standby = standby;
    this.#onChange = onChange;
  }

  /** Whether the next read goes to the standby. */
  get isUsed() {
    return this.#obstacle === undefined && performance.now() - this.#checkedAt < VALID_MS;
  }

  async query<Row>(text: string, values: readonly Value[], name?: string) {
    if (performance.now() - this.#checkedAt > CHECK_MS) void this.check();
    if (this.isUsed) {
      try {
        return await this.#standby.query<Row>(text, values, name);
      } catch (error) {
        // The primary would take as long.
        if (errorCode(error) === SQLSTATE.QUERY_CANCELED) throw error;
        if (!this.#standby.isReachable) this.#report('unreachable');
      }
    }
    return this.#primary.query<Row>(text, values, name);
  }

  /** Checks both servers; concurrent calls share one check. */
  async check(): Promise<void> {
    this.#checking ??= this.#check().finally(() => (this.#checking = undefined));
    return this.#checking;
  }

  async #check() {
    const startedAt = performance.now();
    try {
      const [primary, standby] = await Promise.all([
        this.#primary.query<{ commit: string; names: string }>(COMMIT_SETTINGS, []),
        this.#standby.query<{ isStandby: boolean; name: string }>(STANDBY_NAME, []),
      ]);
      const { commit, names } = primary.rows[0]!;
      const { isStandby, name } = standby.rows[0]!;
      const isApplied = commit === 'remote_apply' && requiredStandbys(names).includes(name.toLowerCase());
      this.#report(!isStandby ? 'not a standby' : isApplied ? undefined : 'not synchronous with remote_apply');
    } catch {
      this.#report('unreachable');
    }
    this.#checkedAt = startedAt;
  }

  #report(obstacle: Obstacle | undefined) {
    if (obstacle === this.#obstacle) return;
    this.#obstacle = obstacle;
    this.#onChange(obstacle);
  }
}

const COMMIT_SETTINGS = `
  select current_setting('synchronous_commit') as commit, current_setting('synchronous_standby_names') as names`;

/** The name under which a standby streams; only members of `pg_read_all_stats` see it. Its default is the name of the cluster. */
const STANDBY_NAME = `
  select pg_is_in_recovery() as "isStandby", coalesce(
    (select substring(conninfo from 'application_name=''?([^'' ]+)') from pg_stat_wal_receiver),
    current_setting('cluster_name')
  ) as name`;

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
