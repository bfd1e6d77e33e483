import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ensureDatabase, imageEnvironment, imageFlags, startCluster } from '@rest-services/local-postgres';
import { startProcess } from './process.ts';

/**
 * Starts the bundle of an app for a benchmark, with a dedicated PostgreSQL server that has durable settings.
 * @param folder of the app
 */
export async function startForBench(folder: string, environment: NodeJS.ProcessEnv) {
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
    /** Stops both and removes the data. Other connections to the database must be closed first. */
    stop: async () => {
      service.child.kill('SIGTERM');
      await service.ended;
      await cluster.stop();
      await rm(directory, { recursive: true, force: true });
    },
  };
}
