import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Rows } from './scenarios.ts';

/** More clients make it slower on a few cores: each is a process of the server's. */
const MAX_CLIENTS = 64;

/**
 * Time for pgbench's clients, which are new in each turn, to connect, and for their server processes to have read the table's
 * pages, as those of the services have.
 */
export const WARM_UP_SECONDS = 2;

/** By scenario, what pgbench runs where the services have HTTP around it. */
const statements: Record<string, (rows: Rows) => string> = {
  read: ({ items }) => `\\set id random(1, ${items})\nselect * from plain_item where id = :id;\n`,
  create: ({ items }) =>
    `\\set id random(1, ${items})\ninsert into plain_item (title) values ('Buy milk, bottle ' || :id) returning id;\n`,
};

/** The scenarios that it has a statement for. */
export const pgbenchScenarios = Object.keys(statements);

const run = promisify(execFile);

/** @returns name and version, or `undefined` where it is not installed */
export async function pgbenchVersion(): Promise<string | undefined> {
  try {
    const { stdout } = await run('pgbench', ['--version']);
    return `pgbench ${/[\d.]+/.exec(stdout)![0]}`;
  } catch {
    return undefined;
  }
}

interface PgbenchLoad {
  scenario: string;
  connections: number;
  seconds: number;
}

/**
 * Runs the statement of a scenario over and over, without HTTP or any program in between.
 * @returns transactions per second, after some time to warm up
 * @throws Error when one of them fails
 */
export async function runPgbench(
  { scenario, connections, seconds }: PgbenchLoad,
  { url, rows, directory }: { url: string; rows: Rows; directory: string },
): Promise<number> {
  const script = join(directory, 'pgbench.sql');
  await writeFile(script, statements[scenario]!(rows));
  const clients = Math.min(MAX_CLIENTS, connections);
  const { stdout, stderr } = await run(
    'pgbench',
    [
      ...['--no-vacuum', '--protocol=prepared', `--client=${clients}`, `--jobs=${Math.min(2, clients)}`],
      // It counts whole seconds only.
      ...[`--time=${WARM_UP_SECONDS + Math.ceil(seconds)}`, '--progress=1', `--file=${script}`, url],
      // What the environment holds for other servers, such as PGOPTIONS, is not for this one.
    ],
    { env: { PATH: process.env.PATH } },
  );
  return parsePgbench(stdout, stderr);
}

/**
 * @param progress a line for each second
 * @returns transactions per second
 */
export function parsePgbench(result: string, progress: string): number {
  const failed = Number(/^number of failed transactions: (\d+)/m.exec(result)?.[1] ?? 0);
  const perSecond = [...progress.matchAll(/^progress: ([\d.]+) s, ([\d.]+) tps/gm)]
    // A line is of the second that ends then, more or less.
    .filter(([, end]) => Number(end) > WARM_UP_SECONDS + 0.5)
    .map(([, , tps]) => Number(tps));
  if (failed > 0 || perSecond.length === 0) throw new Error(`pgbench failed: ${progress}${result}`);
  return perSecond.reduce((sum, each) => sum + each, 0) / perSecond.length;
}
