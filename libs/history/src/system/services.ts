import { join } from 'node:path';
import { startProcess } from '@rest-services/testing/process';
import { openProxy, type TcpProxy } from './tcp-proxy.ts';

const MAIN = join(import.meta.dirname, '..', '..', '..', '..', 'apps', 'items', 'dist', 'main.js');

const START_MS = 60_000;

/** A process of the items service that clients reach through a proxy, which keeps its URL across restarts. */
export class Service {
  readonly proxy: TcpProxy;
  readonly #environment: NodeJS.ProcessEnv;
  #process: ReturnType<typeof startProcess> | undefined;
  #port: number | undefined;

  static async start(environment: NodeJS.ProcessEnv) {
    const service: Service = new Service(environment, await openProxy(() => service.#port));
    await service.start();
    return service;
  }

  private constructor(environment: NodeJS.ProcessEnv, proxy: TcpProxy) {
    this.#environment = environment;
    this.proxy = proxy;
  }

  get url() {
    return `http://127.0.0.1:${this.proxy.port}`;
  }

  /** Starts a process, and another one when it ends because the database can't be reached. @throws Error after a minute */
  async start() {
    const deadline = Date.now() + START_MS;
    for (;;) {
      this.#process = startProcess(MAIN, this.#environment);
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
