import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { closedAtEnd } from '@rest-services/testing';

/** Types a command, in a process group of its own as in a terminal. */
export function type(command: string, options: { cwd: string; env: NodeJS.ProcessEnv }) {
  const child = spawn('bash', ['-c', command], { ...options, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (part: string) => (output += part));
  const errors = text(child.stderr);
  const ended = once(child, 'close').then(async ([code]: (number | null)[]) => ({
    code,
    output,
    errors: await errors,
  }));

  return {
    ended,
    output: () => output,

    /** Waits for something that it has not written before. @throws Error when it ends without */
    said: (pattern: RegExp) => {
      const before = output.length;
      return new Promise<void>((resolve, reject) => {
        child.stdout.on('data', () => pattern.test(output.slice(before)) && resolve());
        void ended.then((end) => reject(new Error(`${command} has ended: ${JSON.stringify(end)}`)));
      });
    },

    /** Ends it as Ctrl-C does, unless it has ended. */
    interrupt: closedAtEnd(() => {
      if (child.exitCode === null && child.signalCode === null) process.kill(-child.pid!, 'SIGINT');
      return ended;
    }),
  };
}
