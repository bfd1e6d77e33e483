import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** What the images set for Node.js and its allocator, so that a benchmark measures what runs in production. */
export const imageEnvironment: NodeJS.ProcessEnv = Object.fromEntries(
  /^ENV (.+)$/m
    .exec(readFileSync(join(import.meta.dirname, '..', '..', '..', 'docker', 'Dockerfile'), 'utf8'))![1]!
    .split(' ')
    .map((setting) => [setting.slice(0, setting.indexOf('=')), setting.slice(setting.indexOf('=') + 1)]),
);
