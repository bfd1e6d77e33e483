import { execFile, execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { install } from '../program.ts';

export const workspace = join(import.meta.dirname, '../../..');

/** The base image that the Dockerfile names. */
const [, base] = /^ARG NODE_IMAGE=(.+)$/m.exec(readFileSync(join(workspace, 'docker/Dockerfile'), 'utf8'))!;

const succeeds = (command: string, ...args: string[]) => spawnSync(command, args, { stdio: 'ignore' }).status === 0;

/** Sets the variables that docker/README.md lists, unless they are set: root can do without Docker, and without a registry. */
function chooseEngine() {
  const { env } = process;
  if (env.CONTAINER_ENGINE) return;
  if (succeeds('docker', 'image', 'inspect', base!) || succeeds('docker', 'pull', base!)) {
    env.CONTAINER_ENGINE = 'docker';
    return;
  }
  if (process.getuid!() !== 0) throw new Error(`No Docker daemon has or gets ${base}, and other engines need root`);
  install('podman', 'runc', 'debootstrap');
  // A machine that is a container itself can neither raise limits nor make the networks that are the default.
  env.CONTAINER_ENGINE = 'podman --runtime runc';
  env.CONTAINER_BUILD_ARGS ??= '--isolation chroot --ulimit nofile=1024:1024 --network host';
  env.CONTAINER_RUN_ARGS ??= '--ulimit nofile=1024:1024 --ulimit nproc=1000:1000';
  if (env.NODE_IMAGE || succeeds('podman', 'pull', '--quiet', base!)) return;
  const standIn = `localhost/node-stand-in:${base!.split(/[:@]/)[1]}`;
  if (!succeeds('podman', 'image', 'exists', standIn))
    execFileSync(join(import.meta.dirname, 'stand-in-base-image.sh'), [standIn], { stdio: ['ignore', 2, 2] });
  env.NODE_IMAGE = standIn;
}
chooseEngine();

const words = (variable: string) => process.env[variable]?.split(' ').filter(Boolean) ?? [];
const [engine, ...engineArguments] = words('CONTAINER_ENGINE') as [string, ...string[]];

export const nodeImage = process.env.NODE_IMAGE ?? base!;

/** Builds the image of a service as `nx docker:build` does. */
export const buildImage = (app: string) =>
  promisify(execFile)(join(workspace, 'docker/build.sh'), [app], { env: process.env, maxBuffer: Infinity });

/** Arguments that build another image, as build.sh has them. */
export const build = [
  'build',
  ...(engine.endsWith('docker') ? [] : ['--format', 'docker', '--skip-unused-stages=false']),
  ...words('CONTAINER_BUILD_ARGS'),
];

/** Arguments that run a container as in production: on a read-only file system, in 256 MB. */
export const run = [
  ...['run', '--rm', '--network', 'host', '--memory', '256m'],
  ...['--read-only', '--cap-drop', 'ALL', '--security-opt', 'no-new-privileges'],
  ...words('CONTAINER_RUN_ARGS'),
];

/** A command of the container engine, and the lines that it writes. */
export function start(...args: string[]) {
  const child = spawn(engine, [...engineArguments, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  const lines: string[] = [];
  const output = createInterface({ input: child.stdout }).on('line', (line) => lines.push(line));
  const errors = text(child.stderr);
  const ended = once(child, 'close').then(async ([code]: (number | null)[]) => ({ code, lines, errors: await errors }));
  /** @throws Error when the command ends without such a line */
  const line = (pattern: RegExp) =>
    new Promise<void>((resolve, reject) => {
      output.on('line', (each) => pattern.test(each) && resolve());
      void ended.then((end) => reject(new Error(`ended without ${pattern}: ${JSON.stringify(end)}`)));
    });
  return { line, ended };
}

/** @throws Error with what the command wrote when it ends with another code than 0 */
export async function succeed(...args: string[]) {
  const { code, lines, errors } = await start(...args).ended;
  if (code !== 0) throw new Error(`${args.join(' ')} ended with code ${code}: ${lines.join('\n')}${errors}`);
  return lines.join('\n');
}
