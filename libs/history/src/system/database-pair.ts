import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ensureDatabase, replication } from '@rest-services/local-postgres';
import pg from 'pg';
import { openProxy, type TcpProxy } from './tcp-proxy.ts';

type Server = replication.ReplicationServer;

/** A primary and its synchronous standby, which change their roles in a failover. */
export class DatabasePair {
  /** A proxy between the services and each server. */
  readonly proxies: TcpProxy[];
  readonly #home: string;
  #primary: Server;
  #standby: Server;

  static async start() {
    const home = await mkdtemp(join(tmpdir(), 'history-'));
    const primary = await replication.startPrimary(join(home, 'a'));
    const standby = await replication.startStandby(primary, join(home, 'b'), { name: 'standby' });
    await replication.setSynchronous(primary, 'standby', 'remote_apply');
    const proxies = await Promise.all([primary, standby].map(({ port }) => openProxy(() => port)));
    return new DatabasePair(home, primary, standby, proxies);
  }

  private constructor(home: string, primary: Server, standby: Server, proxies: TcpProxy[]) {
    this.#home = home;
    this.#primary = primary;
    this.#standby = standby;
    this.proxies = proxies;
  }

  /** Settings of a service for a database. @param readsFromStandby sets DATABASE_READ_URL */
  environment(name: string, readsFromStandby: boolean) {
    const { username, password } = new URL(this.#primary.url);
    const hosts = this.proxies.map(({ port }) => `127.0.0.1:${port}`).join(',');
    const url = `postgres://${username}:${password}@${hosts}/${name}?target_session_attrs=`;
    return { DATABASE_URL: `${url}read-write`, ...(readsFromStandby && { DATABASE_READ_URL: `${url}standby` }) };
  }

  createDatabase(name: string) {
    return ensureDatabase(this.#primary.url, name);
  }

  /** @returns the connection string of a database at the current primary */
  databaseUrl(name: string) {
    return Object.assign(new URL(this.#primary.url), { pathname: `/${name}` }).href;
  }

  async dropDatabase(name: string) {
    const client = new pg.Client({ connectionString: this.#primary.url });
    await client.connect();
    await client.query(`drop database ${pg.escapeIdentifier(name)} with (force)`);
    await client.end();
  }

  /** Kills the primary and promotes the standby. The killed server becomes the standby, from a base backup. */
  async failOver() {
    const killed = this.#primary;
    await replication.kill(killed);
    await replication.promote(this.#standby);
    [this.#primary, this.#standby] = [this.#standby, killed];
    await replication.startStandby(this.#primary, killed.directory, { name: 'standby', port: killed.port });
    await replication.setSynchronous(this.#primary, 'standby', 'remote_apply');
  }

  /** Restarts the primary as after a crash, and waits until its standby is synchronous again: before, a failover may lose writes. */
  async restart() {
    await replication.restartImmediately(this.#primary);
    await replication.setSynchronous(this.#primary, 'standby', 'remote_apply');
  }

  /** Stops all processes of a server, or lets them continue. */
  async signal(role: 'primary' | 'standby', name: 'SIGSTOP' | 'SIGCONT') {
    await replication.signal(role === 'primary' ? this.#primary : this.#standby, name);
  }

  async stop() {
    await Promise.all(this.proxies.map((proxy) => proxy.close()));
    // A server that is stopped by a signal could not shut down.
    await Promise.all([this.#primary, this.#standby].map(replication.kill));
    await rm(this.#home, { recursive: true, force: true });
  }
}
