import {
  checkSessions,
  checkWritable,
  pendingMigrations,
  type Database,
  type Migrations,
} from '@rest-services/database';
import { errorCode, isOverload, SQLSTATE } from '@rest-services/errors';
import type { FastifyInstance } from 'fastify';

export interface Lifecycle {
  /** Set when the process is about to close: traffic should go elsewhere. */
  isDraining: boolean;
}

declare module 'fastify' {
  interface FastifyContextConfig {
    isForMachines?: boolean;
  }
}

/** Options of probes and metrics, which are answered under overload too: machines decide by them about the process. They have no span. */
export const forMachines = { schema: { hide: true }, config: { isForMachines: true } };

/** What probes and scrapes know about the service. */
export interface Health {
  /** Whether the last check found that the service should get traffic; `undefined` before the first one. */
  isReady: boolean | undefined;
  /** Whether the last check found that the database takes no writes. */
  isReadOnly: boolean;
  /** Numbers of the release's migrations that the database has and lacks; `undefined` until a check has found out. */
  migrations: { applied: number; pending: number } | undefined;
  /** Checks again, in the background. */
  check: () => void;
}

const READ_ONLY = 'database is read-only';

interface Probed<Tables> {
  /** Serves the requests. */
  db: Database<Tables>;
  /** One connection for the probes, and one to where GETs read, so that they do not wait behind requests. */
  probing: Database<Tables>;
  migrations: Migrations;
  lifecycle: Lifecycle;
}

/**
 * `/livez`: the process can answer. `/readyz`: it should get traffic, and if not, why.
 * @returns the health for metrics: where nothing asks `/readyz`, scrapes do
 */
export function addHealth<Tables>(
  app: FastifyInstance,
  { db, probing, migrations, lifecycle }: Probed<Tables>,
): Health {
  const health: Health = { isReady: undefined, isReadOnly: false, migrations: undefined, check: () => void check() };
  app.get('/livez', forMachines, () => ({ message: 'alive' }));

  let isMigrated = false;
  let look: Promise<string | undefined> | undefined;
  let known: { reason: string; cause: string | undefined; since: number } | undefined;
  app.get('/readyz', forMachines, async (_request, reply) => {
    const problem = await check();
    return problem ? reply.code(503).send({ message: problem }) : { message: 'ready' };
  });

  return health;

  async function check() {
    const problem = lifecycle.isDraining ? 'draining' : await databaseProblem();
    if (!lifecycle.isDraining) logChange(problem);
    health.isReady = problem === undefined;
    health.isReadOnly = problem === READ_ONLY;
    return problem;
  }

  /** Probes in flight share one check. On one connection, too many checks would time out as if the database were lost. */
  async function databaseProblem() {
    // A busy database responds to the requests; a statement of the probe would wait longer than a load balancer does.
    if (isMigrated && db.isServing) return undefined;
    look ??= findProblem().finally(() => (look = undefined));
    return look;
  }

  async function findProblem(on = probing): Promise<string | undefined> {
    try {
      // Until it has succeeded once: the database may have been down at the start.
      if (!isMigrated) await checkSessions(on);
      await checkWritable(on);
      // GETs can read where they do.
      await on.read({ text: 'select 1' }, []);
      const pending = await pendingMigrations(on, migrations);
      isMigrated = pending.length === 0;
      health.migrations = { applied: Object.keys(migrations).length - pending.length, pending: pending.length };
      return isMigrated ? undefined : `migrations pending: ${pending.join(', ')}`;
    } catch (error) {
      // The database is slow: the connection that took too long serves the next check.
      if (isOverload(error)) return isMigrated ? undefined : findProblem();
      const code = errorCode(error);
      const isReadOnly = code === SQLSTATE.READ_ONLY_SQL_TRANSACTION;
      // The server may refuse a further connection while those of the requests work.
      if (on === probing && !isReadOnly && code !== 'ETIMEDOUT') return findProblem(db);
      const reason = isReadOnly ? READ_ONLY : 'database unreachable';
      logChange(reason, error);
      return reason;
    }
  }

  /** Logs when and why the service is not ready, once for each reason and cause, and for how long it was not. */
  function logChange(reason: string | undefined, error?: unknown) {
    const cause = error === undefined ? known?.cause : (error as Error).message;
    if (reason === known?.reason && cause === known?.cause) return;
    const since = known?.since ?? performance.now();
    if (reason) app.log.warn({ reason, ...(error ? { err: error } : {}) }, 'Not ready');
    else app.log.info({ reason: known!.reason, ms: Math.round(performance.now() - since) }, 'Ready again');
    known = reason ? { reason, cause, since } : undefined;
  }
}
