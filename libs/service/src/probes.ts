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

  app.get('/readyz', forMachines, async (request, reply) => {
    const obstacle = lifecycle.isDraining ? 'draining' : await databaseObstacle();
    return obstacle ? reply.code(503).send({ message: obstacle }) : { message: 'ready' };

    async function databaseObstacle() {
      try {
        const pending = await pendingMigrations(db, migrations);
        return pending.length > 0 ? `migrations pending: ${pending.join(', ')}` : undefined;
      } catch (error) {
        request.log.warn({ err: error }, 'not ready');
        return 'database unreachable';
      }
    }
  });
}
