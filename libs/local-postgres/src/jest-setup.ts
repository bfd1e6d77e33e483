import { rmSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onExit } from 'signal-exit';
import { startCluster } from './cluster.ts';

/**
 * Once per test run: a throw-away server without fsync, which ends with the run, unless `DATABASE_URL` names one to use or
 * `with-server.ts` has started one.
 */
export default async function setUp() {
  if (process.env.DATABASE_URL) process.env.TEST_SERVER_URL = process.env.DATABASE_URL;
  if (process.env.TEST_SERVER_URL) return;

  const directory = await mkdtemp(join(tmpdir(), 'test-postgres-'));
  const { url, pid } = await startCluster(directory, { durable: false });
  process.env.TEST_SERVER_URL = url;
  // Also when the run is interrupted. The server removes a file when it ends, which would stop the removal of the others.
  onExit(() => {
    try {
      rmSync(directory, { recursive: true, force: true, maxRetries: 10 });
    } finally {
      process.kill(pid, 'SIGQUIT');
    }
  });
}
