import { rmSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onExit } from 'signal-exit';
import { startCluster } from './cluster.ts';

declare global {
  var stopTestServer: (() => Promise<void>) | undefined;
}

/** Once per test run: a throw-away server without fsync, unless `DATABASE_URL` names one to use or `with-server.ts` has started one. */
export default async function setUp() {
  const running = process.env.TEST_SERVER_URL || process.env.DATABASE_URL;
  if (running) {
    process.env.TEST_SERVER_URL = running;
    return;
  }

  const directory = await mkdtemp(join(tmpdir(), 'test-postgres-'));
  const server = await startCluster(directory, { durable: false });
  process.env.TEST_SERVER_URL = server.url;

  // A run that is interrupted must not leave its server behind.
  const forget = onExit(() => {
    process.kill(server.pid, 'SIGQUIT');
    rmSync(directory, { recursive: true, force: true });
  });
  globalThis.stopTestServer = async () => {
    forget();
    await server.stop();
    await rm(directory, { recursive: true, force: true });
  };
}
