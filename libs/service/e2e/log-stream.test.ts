import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, test } from '@jest/globals';

const MiB = 1_024 ** 2;

test('Of a log that nobody reads, 8 MiB of whole lines are kept, and what is logged once somebody reads follows them', async () => {
  const module = JSON.stringify(join(import.meta.dirname, '../src/observability/log-stream.ts'));
  const logging = `
    import { setImmediate as endOfTurn } from 'node:timers/promises';
    import { logStream } from ${module};
    for (let turn = 0; turn < 200; turn += 1) {
      for (let line = 0; line < 100; line += 1) logStream.write(\`\${turn} \${line} \${'a'.repeat(1_000)}.\\n\`);
      await endOfTurn();
    }
    console.error('all logged');
    setInterval(() => logStream.write('later\\n'), 10);`;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', logging], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  await once(child.stderr, 'data');
  const kept: string[] = [];
  for await (const line of createInterface({ input: child.stdout })) {
    if (line === 'later') break;
    kept.push(line);
  }
  child.kill();
  await once(child, 'close');
  expect(kept.filter((line) => !/^\d+ \d+ a{1000}\.$/.test(line))).toEqual([]);
  const bytes = kept.length * 1_008;
  expect(bytes).toBeGreaterThan(7 * MiB);
  expect(bytes).toBeLessThan(9 * MiB);
});
