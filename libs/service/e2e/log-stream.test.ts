import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, expect, test } from '@jest/globals';
import { freePort } from '@rest-services/local-postgres';
import { closedAtEnd } from '@rest-services/testing';
import { notesMain } from '../test/notes/bundled.ts';
import { notes } from '../test/process/notes-process.ts';

const MiB = 1_024 ** 2;

test('The last lines before an exit are written, whatever is being written', async () => {
  const module = JSON.stringify(join(import.meta.dirname, '../src/observability/log-stream.ts'));
  const script = `import { setImmediate } from 'node:timers/promises';
    import { flushLog, logStream } from ${module};
    logStream.write('a'.repeat(5_000) + '\\n');
    // Its write has begun, and not ended.
    await setImmediate();
    logStream.write('last\\n');
    await flushLog();
    process.exit(0);`;
  const { stdout } = spawn(process.execPath, ['--input-type=module', '--eval', script]);
  expect((await text(stdout)).split('\n').slice(1)).toEqual(['last', '']);
});

describe.each([
  ['whose disk is full', () => openSync('/dev/full', 'w')],
  ['whose reader has left', () => 'pipe' as const],
])('A log %s holds up', (_, openOutput) => {
  /** Starts a process that writes its log there. */
  function startWith(environment: NodeJS.ProcessEnv, ...args: string[]) {
    const output = openOutput();
    const child = spawn(process.execPath, [notesMain(), ...args], {
      env: { PATH: process.env.PATH, DATABASE_URL: notes.database.url, HOST: '127.0.0.1', ...environment },
      stdio: ['ignore', output, 'pipe'],
    });
    closedAtEnd(() => child.kill('SIGKILL'));
    if (typeof output === 'number') closeSync(output);
    child.stdout?.destroy();
    const errors = text(child.stderr!);
    return { child, ended: once(child, 'exit').then(async ([code]: unknown[]) => ({ code, errors: await errors })) };
  }

  /** Starts a service, and waits until it serves. */
  async function serveWith(environment: NodeJS.ProcessEnv) {
    const PORT = `${await freePort()}`;
    const service = startWith({ PORT, ...environment });
    const get = (path: string): Promise<Response> =>
      fetch(`http://127.0.0.1:${PORT}${path}`).catch((error: unknown) => {
        if (service.child.exitCode !== null) throw error;
        return get(path);
      });
    await get('/livez');
    return { get, ...service };
  }

  test('neither requests nor the exit', async () => {
    const { child, get, ended } = await serveWith({});
    for (let turn = 0; turn < 3; turn += 1) expect((await get('/notes')).status).toBe(200);
    child.kill('SIGTERM');
    expect(await ended).toEqual({ code: 0, errors: '' });
  });

  test('no second signal, which ends the process at once', async () => {
    const { child, get, ended } = await serveWith({ SHUTDOWN_DELAY_MS: '5000' });
    child.kill('SIGTERM');
    while ((await get('/readyz')).status === 200);
    child.kill('SIGTERM');
    // After the delay, the code would be 0.
    expect(await ended).toMatchObject({ code: 1 });
  });

  test('no job, which fails', async () => {
    const { href } = Object.assign(new URL(notes.database.url), { pathname: '/missing' });
    expect(await startWith({ DATABASE_URL: href }, 'migrate').ended).toMatchObject({ code: 1 });
  });
});

test('A reader of the log that pauses holds up nothing, and 8 MiB of whole lines are kept', async () => {
  const service = notes.start();
  const url = await service.listening();
  const long = `/nowhere?${'a'.repeat(15_000)}`;
  const sendLong = async (count: number) => {
    for (let turn = 0; turn < count; turn += 1) expect((await fetch(url + long)).status).toBe(404);
  };
  service.child.stdout.pause();
  await sendLong(1_000);
  service.child.stdout.resume();
  while (!service.log.some((line) => line.url === '/notes')) await fetch(`${url}/notes`);
  const kept = service.log.filter((line) => line.url === long).length * 15_000;
  expect(kept).toBeGreaterThan(7 * MiB);
  expect(kept).toBeLessThan(9 * MiB);

  service.child.stdout.pause();
  await sendLong(100);
  service.child.kill('SIGTERM');
  expect(await once(service.child, 'exit')).toEqual([0, null]);
  // The last line may be incomplete.
  service.child.stdout.destroy();
});
