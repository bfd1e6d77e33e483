import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';

/** Runs promtool. @returns its exit code, and all that it has written */
export async function promtool(args: string[], input = '') {
  const child = spawn('promtool', args, { stdio: ['pipe', 'pipe', 'pipe'] });
  child.stdin.end(input);
  const ended = once(child, 'close').then(([code]: (number | null)[]) => code);
  const [output, errors, code] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  return { code, output: output + errors };
}
