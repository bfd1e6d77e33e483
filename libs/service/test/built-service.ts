import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ensureDatabase, imageEnvironment, imageFlags, startCluster } from '@rest-services/local-postgres';
import { startProcess } from './process.ts';

/**
 * Starts what `nx build` has made of an app, for a benchmark: on a PostgreSQL server of its own with durable settings.
 * @param folder the app's
 */
export async function startBuiltService(folder: string, environment: NodeJS.ProcessEnv) {
  const directory = await mkdtemp(join(tmpdir(), 'bench-'));
  const cluster = await startCluster(directory, { durable: true });
  const databaseUrl = await ensureDatabase(cluster.url, 'bench');
  const service = startProcess([...imageFlags, join(folder, 'dist', 'main.js')], {
    DATABASE_URL: databaseUrl,
    ...imageEnvironment,
    ...environment,
  });

  return {
    service,
    databaseUrl,
    /** Stops both and removes the data; other connections to the database must be closed by then. */
    stop: async () => {
      service.child.kill('SIGTERM');
      await service.ended;
      await cluster.stop();
      await rm(directory, { recursive: true, force: true });
    },
  };
}
