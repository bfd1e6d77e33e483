import { pendingMigrations, type Migrations } from '@rest-services/database';
import type { FastifyInstance } from 'fastify';
import type { Kysely } from 'kysely';

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

/** `/livez`: the process can answer. `/readyz`: it should get traffic, and if not, why. */
export function addProbes<Tables>(
  app: FastifyInstance,
  db: Kysely<Tables>,
  migrations: Migrations,
  lifecycle: Lifecycle,
) {
  app.get('/livez', forMachines, () => ({ message: 'alive' }));

  app.get('/readyz', forMachines, async (_request, reply) => {
    const obstacle = lifecycle.isDraining ? 'draining' : await databaseObstacle();
    return obstacle ? reply.code(503).send({ message: obstacle }) : { message: 'ready' };
  });

  let look: Promise<string | undefined> | undefined;

  /** One look for all who ask meanwhile: with too many on one connection, the database would seem to be at fault. */
  function databaseObstacle() {
    look ??= lookForObstacle().finally(() => (look = undefined));
    return look;
  }

  async function lookForObstacle() {
    try {
      const pending = await pendingMigrations(db, migrations);
      return pending.length > 0 ? `migrations pending: ${pending.join(', ')}` : undefined;
    } catch (error) {
      app.log.warn({ err: error }, 'not ready');
      return 'database unreachable';
    }
  }
}
