import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const dockerfile = readFileSync(join(import.meta.dirname, '..', '..', '..', 'docker', 'Dockerfile'), 'utf8');

/** Environment of the images, so that a benchmark measures production's settings of Node.js and its allocator. */
export const imageEnvironment: NodeJS.ProcessEnv = Object.fromEntries(
  Array.from(/^ENV (.+)$/m.exec(dockerfile)![1]!.matchAll(/(\w+)=(?:"([^"]*)"|(\S+))/g), ([, name, quoted, plain]) => [
    name!,
    quoted ?? plain!,
  ]),
);

/** V8 flags of the images' command, which `NODE_OPTIONS` does not allow. */
export const imageFlags = (JSON.parse(/^CMD (.+)$/m.exec(dockerfile)![1]!) as string[]).slice(1, -1);
