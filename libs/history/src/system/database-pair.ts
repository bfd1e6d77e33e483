import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ensureDatabase, replication } from '@rest-services/local-postgres';
import pg from 'pg';
import { openProxy } from './tcp-proxy.ts';

export type DatabasePair = Awaited<ReturnType<typeof startDatabasePair>>;

/** Starts a primary and its synchronous standby, which change their roles in a failover. */
export async function startDatabasePair() {
  const home = await mkdtemp(join(tmpdir(), 'history-'));
  let primary = await replication.startPrimary(join(home, 'a'));
  let standby = await replication.startStandby(primary, join(home, 'b'), { name: 'standby' });
  const makeSynchronous = () => replication.setSynchronous(primary, 'standby', 'remote_apply');
  await makeSynchronous();
  /** A proxy between the services and each server. */
  const proxies = await Promise.all([primary, standby].map(({ port }) => openProxy(() => port)));

  return {
    proxies,

    /** Settings of a service for a database. @param readsFromStandby sets DATABASE_READ_URL */
    environment(name: string, readsFromStandby: boolean) {
      const { username, password } = new URL(primary.url);
      const hosts = proxies.map(({ port }) => `127.0.0.1:${port}`).join(',');
      const url = `postgres://${username}:${password}@${hosts}/${name}?target_session_attrs=`;
      return { DATABASE_URL: `${url}read-write`, ...(readsFromStandby && { DATABASE_READ_URL: `${url}standby` }) };
    },

    createDatabase: (name: string) => ensureDatabase(primary.url, name),

    /** @returns the connection string of a database at the current primary */
    databaseUrl: (name: string) => Object.assign(new URL(primary.url), { pathname: `/${name}` }).href,

    async dropDatabase(name: string) {
      const client = new pg.Client({ connectionString: primary.url });
      await client.connect();
      await client.query(`drop database ${pg.escapeIdentifier(name)} with (force)`);
      await client.end();
    },

    /** Kills the primary and promotes the standby. The killed server becomes the standby, from a base backup. */
    async failOver() {
      const killed = primary;
      await replication.kill(killed);
      await replication.promote(standby);
      [primary, standby] = [standby, killed];
      await replication.startStandby(primary, killed.directory, { name: 'standby', port: killed.port });
      await makeSynchronous();
    },

    /** Restarts the primary as after a crash, and waits until its standby is synchronous again: before, a failover may lose writes. */
    async restart() {
      await replication.restartImmediately(primary);
      await makeSynchronous();
    },

    /** Stops all processes of a server, or lets them continue. */
    signal: (role: 'primary' | 'standby', name: 'SIGSTOP' | 'SIGCONT') =>
      replication.signal(role === 'primary' ? primary : standby, name),

    async stop() {
      await Promise.all(proxies.map((proxy) => proxy.close()));
      // A server that is stopped by a signal could not shut down.
      await Promise.all([primary, standby].map(replication.kill));
      await rm(home, { recursive: true, force: true });
    },
  };
}
