import type { ServiceDefinition } from './assemble-service.ts';
import { isAlive } from './observability/health-command.ts';

export interface StartOptions<Tables> {
  name: string;
  defaultPort: number;
  load: () => Promise<Omit<ServiceDefinition<Tables>, 'name'>>;
}

/**
 * The entry of a service. `node main.js health`, which a container runs every 10 s, exits with 0 when the service with the same
 * HOST and PORT is alive, and with 1 otherwise; it loads nothing else. All other commands are those of `runService`.
 */
export async function startService<Tables>({ name, defaultPort, load }: StartOptions<Tables>) {
  if (process.argv[2] === 'health') process.exit((await isAlive(process.env, defaultPort)) ? 0 : 1);
  // Without Node.js's flag, by which it writes a heap snapshot, it would end the process.
  process.on('SIGUSR2', () => undefined);
  const loaded = handleSignalsWhileLoading();
  // The driver would read them: PGSSLMODE, PGOPTIONS, PGPASSWORD.
  for (const name of Object.keys(process.env)) if (/^(NODE_)?PG/.test(name)) Reflect.deleteProperty(process.env, name);
  const [{ runService }, definition] = [await import('./run-service.ts'), await load()];
  loaded();
  await runService({ name, ...definition }, defaultPort);
}

/**
 * Handles signals in the half second until `runService` does. Otherwise, they would end or stop the process, or be lost in the first
 * process of a container. Those that arrive while a module runs are left to `runService`.
 * @returns a function to be called when all is loaded
 */
function handleSignalsWhileLoading() {
  let isLoading = true;
  // A job is not done.
  const stop = () => isLoading && process.exit(process.argv[2] === undefined ? 0 : 1);
  for (const signal of ['SIGHUP', 'SIGINT', 'SIGQUIT', 'SIGTERM']) process.on(signal, stop);
  return () => {
    isLoading = false;
  };
}
