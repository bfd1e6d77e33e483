// Runs a command, such as the tests of all projects, with one throw-away server for them all: with-server.ts COMMAND…
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import setUp from './jest-setup.ts';

await setUp();
const [command, ...args] = process.argv.slice(2);
const child = spawn(command!, args, { stdio: 'inherit' });
// Ctrl-C reaches the command as well, and the server is stopped once that has ended.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => child.kill(signal));
const [code] = (await once(child, 'exit')) as [number | null];
process.exit(code ?? 1);
