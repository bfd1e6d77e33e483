import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { describe, expect, test } from '@jest/globals';
import { freePort } from '@rest-services/local-postgres';
import { withMargin } from '@rest-services/testing';
import { notesMain } from '../test/notes/bundled.ts';
import { notes } from '../test/process/notes-process.ts';

const MiB = 1_024 ** 2;

test('of a log that is not read, 8 MiB of whole lines are kept, and later lines follow them', async () => {
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

test('the last lines before an exit are written, whatever is being written', async () => {
  const module = JSON.stringify(join(import.meta.dirname, '../src/observability/log-stream.ts'));
  const exiting = `
    import { flushLog, logStream } from ${module};
    logStream.write('a'.repeat(5_000) + '\\n');
    logStream.write('last\\n');
    await flushLog();
    process.exit(0);`;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', exiting], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  expect((await text(child.stdout)).split('\n').slice(1)).toEqual(['last', '']);
});

/** Starts a service that writes its log there, and waits until it serves. */
async function startWith(output: number | 'pipe', environment: NodeJS.ProcessEnv) {
  const PORT = `${await freePort()}`;
  const child = spawn(process.execPath, [notesMain()], {
    env: { PATH: process.env.PATH, DATABASE_URL: notes.database.url, HOST: '127.0.0.1', PORT, ...environment },
    stdio: ['ignore', output, 'pipe'],
  });
  if (typeof output === 'number') closeSync(output);
  child.stdout?.destroy();
  const [errors, ended] = [text(child.stderr!), once(child, 'exit')];
  const get = (path: string): Promise<Response> =>
    fetch(`http://127.0.0.1:${PORT}${path}`).catch((error: unknown) => {
      if (child.exitCode !== null) throw error;
      return get(path);
    });
  await get('/livez');
  return { child, get, errors, ended };
}

describe.each([
  ['whose disk is full', () => openSync('/dev/full', 'w')],
  ['that cannot be written', () => openSync(notesMain(), 'r')],
  ['whose reader has left', () => 'pipe' as const],
])('a log %s holds up', (_, output) => {
  test('neither requests nor the exit', async () => {
    const { child, get, errors, ended } = await startWith(output(), {});
    for (let turn = 0; turn < 3; turn += 1) expect((await get('/notes')).status).toBe(200);
    const signalledAt = performance.now();
    child.kill('SIGTERM');
    expect([await ended, await errors]).toEqual([[0, null], '']);
    expect(performance.now() - signalledAt).toBeLessThan(withMargin(10_000));
  });

  test('no second signal, which ends the process at once', async () => {
    const { child, get, ended } = await startWith(output(), { SHUTDOWN_DELAY_MS: '5000' });
    child.kill('SIGTERM');
    while ((await get('/readyz')).status === 200);
    const signalledAt = performance.now();
    child.kill('SIGTERM');
    expect(await ended).toEqual([1, null]);
    expect(performance.now() - signalledAt).toBeLessThan(4_000);
  });

  test('no job, which fails', async () => {
    const { href } = Object.assign(new URL(notes.database.url), { pathname: '/missing' });
    const job = spawn(process.execPath, [notesMain(), 'migrate'], {
      env: { PATH: process.env.PATH, DATABASE_URL: href },
      stdio: ['ignore', output(), 'ignore'],
    });
    job.stdout?.destroy();
    expect(await once(job, 'exit')).toEqual([1, null]);
  });
});

test('a reader of the log that pauses holds up neither requests nor the exit', async () => {
  const service = notes.start({});
  const url = await service.listening();
  service.child.stdout.pause();
  const REQUESTS = 400;
  const long = 'a'.repeat(4_000);
  for (let turn = 0; turn < REQUESTS; turn += 1) {
    expect((await fetch(`${url}/notes?${long}=${turn}`)).status).toBe(200);
  }
  service.child.stdout.resume();
  await service.logged(({ url }) => String(url).endsWith(`=${REQUESTS - 1}`));
  expect(service.log.filter(({ msg }) => msg === 'request')).toHaveLength(REQUESTS);

  service.child.stdout.pause();
  for (let turn = 0; turn < REQUESTS; turn += 1) await fetch(`${url}/notes?${long}`);
  service.child.kill('SIGTERM');
  expect(await once(service.child, 'exit')).toEqual([0, null]);
  // The last line may be incomplete.
  service.child.stdout.destroy();
});
