import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ensureDatabase, freePort, signalServer, startCluster } from '@rest-services/local-postgres';
import pg from 'pg';
import { openProxy } from './tcp-proxy.ts';

export type DatabaseServer = Awaited<ReturnType<typeof startDatabaseServer>>;

/** Starts a PostgreSQL server that services reach through a proxy. */
export async function startDatabaseServer() {
  const home = await mkdtemp(join(tmpdir(), 'history-'));
  const options = { durable: true, port: await freePort() };
  let server = await startCluster(home, options);
  const proxy = await openProxy(() => options.port);
  const databaseUrl = (name: string) => Object.assign(new URL(server.url), { pathname: `/${name}` }).href;

  return {
    ...{ proxy, databaseUrl },

    /** @returns the connection string of a database through the proxy */
    serviceUrl: (name: string) => Object.assign(new URL(databaseUrl(name)), { port: `${proxy.port}` }).href,

    createDatabase: (name: string) => ensureDatabase(server.url, name),

    async dropDatabase(name: string) {
      const client = new pg.Client({ connectionString: server.url });
      await client.connect();
      await client.query(`drop database ${pg.escapeIdentifier(name)} with (force)`);
      await client.end();
    },

    /** Restarts the server as after a crash: sessions end at once, and it recovers. */
    async restart() {
      process.kill(server.pid, 'SIGQUIT');
      server = await startCluster(home, options);
    },

    /** Stops all processes of the server, or lets them continue. */
    signal: (name: 'SIGSTOP' | 'SIGCONT') => signalServer(server.pid, name),

    async stop() {
      await proxy.close();
      // A server that is stopped by a signal could not shut down.
      await signalServer(server.pid, 'SIGCONT');
      await server.stop();
      await rm(home, { recursive: true, force: true });
    },
  };
}
