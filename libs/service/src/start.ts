import { isAlive } from './observability/health.ts';
import type { ServiceDefinition } from './run-service.ts';

export interface StartOptions<Tables> extends Pick<ServiceDefinition<Tables>, 'name' | 'defaultPort'> {
  load: () => Promise<Omit<ServiceDefinition<Tables>, 'name' | 'defaultPort'>>;
}

/**
 * The entry of a service. `node main.js health`, which a container runs every 10 s, exits with 0 when the service with the same
 * HOST and PORT is alive, and with 1 otherwise; it loads nothing else. All other commands are those of `runService`.
 */
export async function startService<Tables>({ name, defaultPort, load }: StartOptions<Tables>) {
  if (process.argv[2] === 'health') process.exit((await isAlive(process.env, defaultPort)) ? 0 : 1);
  const { runService } = await import('./run-service.ts');
  await runService({ name, defaultPort, ...(await load()) });
}
