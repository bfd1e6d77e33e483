import { join } from 'node:path';
import { startProcess } from '@rest-services/testing/process';
import { openProxy, type TcpProxy } from './tcp-proxy.ts';

const MAIN = join(import.meta.dirname, '..', '..', '..', 'apps', 'items', 'dist', 'main.js');

const START_MS = 60_000;

/** A process of the items service that clients reach through a proxy, which keeps its URL across restarts. */
export class Service {
  readonly proxy: TcpProxy;
  readonly #databaseUrl: string;
  #process: ReturnType<typeof startProcess> | undefined;
  #port: number | undefined;

  static async start(databaseUrl: string) {
    const service: Service = new Service(databaseUrl, await openProxy(() => service.#port));
    await service.start();
    return service;
  }

  private constructor(databaseUrl: string, proxy: TcpProxy) {
    this.#databaseUrl = databaseUrl;
    this.proxy = proxy;
  }

  get url() {
    return `http://127.0.0.1:${this.proxy.port}`;
  }

  /** Starts a process, and another one when it ends because the database can't be reached. @throws Error after a minute */
  async start() {
    const deadline = Date.now() + START_MS;
    for (;;) {
      this.#process = startProcess(MAIN, { DATABASE_URL: this.#databaseUrl });
      try {
        this.#port = Number(new URL(await this.#process.listening()).port);
        return;
      } catch (error) {
        if (Date.now() > deadline) throw error;
      }
    }
  }

  async kill() {
    this.#port = undefined;
    this.#process!.child.kill('SIGKILL');
    await this.#process!.ended;
  }

  signal(name: 'SIGSTOP' | 'SIGCONT') {
    this.#process!.child.kill(name);
  }

  async stop() {
    await this.kill();
    await this.proxy.close();
  }
}
