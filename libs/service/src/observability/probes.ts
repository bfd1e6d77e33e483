import {
  checkSessions,
  checkWritable,
  errorCode,
  pendingMigrations,
  SQLSTATE,
  type Database,
  type Migrations,
} from '@rest-services/database';
import { isOverload } from '@rest-services/errors';
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

/** Options of probes and metrics, which are answered under overload too: machines decide by them about the process. */
export const forMachines = {
  schema: { hide: true },
  config: { isForMachines: true, pressureHandler: () => undefined },
};

interface Probed<Tables> {
  /** Serves the requests. */
  db: Database<Tables>;
  /** One connection for the probes alone, so that they do not wait behind requests. */
  probing: Database<Tables>;
  migrations: Migrations;
  lifecycle: Lifecycle;
}

/** `/livez`: the process can answer. `/readyz`: it should get traffic, and if not, why. */
export function addProbes<Tables>(app: FastifyInstance, { db, probing, migrations, lifecycle }: Probed<Tables>) {
  app.get('/livez', forMachines, () => ({ message: 'alive' }));

  let isMigrated = false;
  app.get('/readyz', forMachines, async (_request, reply) => {
    const obstacle = lifecycle.isDraining ? 'draining' : await databaseObstacle();
    if (!lifecycle.isDraining) logChange(obstacle);
    void db.checkStandby();
    return obstacle ? reply.code(503).send({ message: obstacle }) : { message: 'ready' };
  });

  let look: Promise<string | undefined> | undefined;

  /** Probes in flight share one check. On one connection, too many checks would time out as if the database were lost. */
  async function databaseObstacle() {
    // A busy database responds to the requests; a statement of the probe would wait longer than a load balancer does.
    if (isMigrated && db.isResponding) return undefined;
    look ??= lookForObstacle().finally(() => (look = undefined));
    return look;
  }

  async function lookForObstacle(): Promise<string | undefined> {
    try {
      // Until it has succeeded once: the database may have been down at the start.
      if (!isMigrated) await checkSessions(probing);
      await checkWritable(probing);
      const pending = await pendingMigrations(probing, migrations);
      isMigrated = pending.length === 0;
      return isMigrated ? undefined : `migrations pending: ${pending.join(', ')}`;
    } catch (error) {
      // The database is slow: the connection that took too long serves the next check.
      if (isOverload(error)) return isMigrated ? undefined : lookForObstacle();
      const isReadOnly = errorCode(error) === SQLSTATE.READ_ONLY_SQL_TRANSACTION;
      const reason = isReadOnly ? 'database is read-only' : 'database unreachable';
      logChange(reason, error);
      return reason;
    }
  }

  let known: { reason: string; cause: string | undefined; since: number } | undefined;

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
