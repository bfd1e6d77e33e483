import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort, imageEnvironment, imageFlags } from '@rest-services/local-postgres';

/** What is measured beside the service itself, by the name that the tables give it. */
export const names = {
  service: 'This service',
  withoutKey: 'This service, without a key',
  express: 'Express 5 + Sequelize 6',
  statementPerRequest: 'Fastify + Kysely, a statement per request',
  constant: 'Fastify with a constant',
} as const;

/** Those that are programs of ours. */
export const programs = {
  [names.express]: 'express-sequelize.ts',
  [names.statementPerRequest]: 'statement-per-request.ts',
  [names.constant]: 'constant.ts',
};

/**
 * Who runs a statement for each request does so on the service's own table, whose triggers count rows: the ratio to it
 * says what sharing statements brings. The others have a table without triggers, as they would have.
 */
export const itemTableOf = (name: string) => (name === names.statementPerRequest ? 'item' : 'plain_item');

/** The constant answers of the ceiling are of these scenarios. */
export const constantScenarios = ['read', 'first-page'];

/**
 * To read a deep page, the contestants have PostgreSQL read all rows before it. Over more connections than this the
 * first answers would come after the measurement.
 */
export const MAX_DEEP_CONNECTIONS = 64;

const START_LIMIT_MS = 30_000;

export interface Server {
  url: string;
  pid: number;
  /** From the start of the process to the first answer. */
  startMs: number;
  /** Settles when the process has ended. */
  stop: () => Promise<void>;
}

/** The program that `nx build` makes of a service. */
export const mainOf = (service: 'items' | 'tutorials') =>
  join(import.meta.dirname, '..', '..', '..', 'apps', service, 'dist', 'main.js');

/** The program of one of `programs`. */
export const programOf = (name: keyof typeof programs) => join(import.meta.dirname, 'contestants', programs[name]);

/**
 * Starts a server in a dedicated process, in production mode and otherwise with its default settings. Its log is discarded,
 * because the service must not pay for the log's destination.
 * @param firstPath path to request until it responds with 200
 * @param settings further environment variables
 */
export async function startServer(
  program: string,
  databaseUrl: string,
  firstPath: string,
  settings: Record<string, string> = {},
): Promise<Server> {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const started = performance.now();
  const child = spawn(process.execPath, [...imageFlags, program], {
    env: {
      PATH: process.env.PATH,
      // The contestants get the same environment and flags.
      ...imageEnvironment,
      HOST: '127.0.0.1',
      PORT: `${port}`,
      DATABASE_URL: databaseUrl,
      // Needs no delay, because the load has ended before the server is stopped.
      SHUTDOWN_DELAY_MS: '0',
      ...settings,
    },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const stop = () => stopChild(child);
  try {
    await firstAnswer(child, url + firstPath);
  } catch (error) {
    await stop();
    throw error;
  }
  return { url, pid: child.pid!, startMs: performance.now() - started, stop };
}

/** Requests the URL until it responds with 200, because only a response tells that a process without a log is ready. */
async function firstAnswer(child: ChildProcess, url: string) {
  const deadline = performance.now() + START_LIMIT_MS;
  while (!hasEnded(child) && performance.now() < deadline) {
    const response = await fetch(url).catch(() => undefined);
    await response?.text();
    if (response?.status === 200) return;
    await sleep(2);
  }
  throw new Error(`${child.spawnargs.join(' ')} does not answer ${url}`);
}

const hasEnded = ({ exitCode, signalCode }: ChildProcess) => exitCode !== null || signalCode !== null;

async function stopChild(child: ChildProcess) {
  if (hasEnded(child)) return;
  child.kill('SIGTERM');
  await once(child, 'exit');
}
