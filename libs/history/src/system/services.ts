import { join } from 'node:path';
import { startProcess } from '@rest-services/testing/process';
import { openProxy } from './tcp-proxy.ts';

const MAIN = join(import.meta.dirname, '..', '..', '..', '..', 'apps', 'items', 'dist', 'main.js');

const START_MS = 60_000;

export type Service = Awaited<ReturnType<typeof startService>>;

/** Starts a process of the items service that clients reach through a proxy, which keeps its URL across restarts. */
export async function startService(environment: NodeJS.ProcessEnv) {
  let port: number | undefined;
  let instance: ReturnType<typeof startProcess>;
  const proxy = await openProxy(() => port);

  /** Starts a process, and another one when it ends because the database can't be reached. @throws Error after a minute */
  async function start() {
    const deadline = Date.now() + START_MS;
    for (;;) {
      instance = startProcess(MAIN, environment);
      try {
        port = Number(new URL(await instance.listening()).port);
        return;
      } catch (error) {
        if (Date.now() > deadline) throw error;
      }
    }
  }

  async function kill() {
    port = undefined;
    instance.child.kill('SIGKILL');
    await instance.ended;
  }

  await start();
  return {
    ...{ proxy, url: `http://127.0.0.1:${proxy.port}`, start, kill },
    signal: (name: 'SIGSTOP' | 'SIGCONT') => instance.child.kill(name),
    stop: async () => {
      await kill();
      await proxy.close();
    },
  };
}
