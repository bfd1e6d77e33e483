import { once } from 'node:events';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, test } from '@jest/globals';
import { freePort } from '@rest-services/local-postgres';
import { load } from '@rest-services/testing';
import { openOverHttp10 } from '../open-list.ts';
import { insertNotes, notes } from './notes-process.ts';

test('SIGTERM: the response to a request in flight has Connection: close', async () => {
  const service = notes.start({});
  const url = await service.listening();
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  // The service has read the second request when the first response arrives.
  const head = 'POST /notes HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 13\r\n\r\n';
  socket.write(`GET /livez HTTP/1.1\r\nHost: a\r\n\r\n${head}`);
  await once(socket, 'data');
  service.child.kill('SIGTERM');
  await service.logged(/^draining/);
  await load(url, ['/livez'], 1).refused();
  socket.write('{"title":"a"}');
  expect(await text(socket)).toMatch(/^HTTP\/1\.1 201 .*^Connection: close\r\n/ims);
});

test('SIGTERM lets a long list be read to its end', async () => {
  const service = notes.start({});
  const url = await service.listening();
  await insertNotes(50_000);
  const response = await fetch(`${url}/notes?limit=1000000`);
  service.child.kill('SIGTERM');
  await service.logged(/^draining/);
  expect(await response.json()).toHaveLength(50_000);
  expect((await service.ended).code).toBe(0);
});

test('`main.js migrate` logs that it was stopped early, and exits with 1', async () => {
  const nowhere = `postgres://notes:secret@127.0.0.1:${await freePort()}/notes`;
  const job = notes.start({ DATABASE_URL: nowhere }, 'migrate');
  await job.logged(/^database is not up yet/);
  job.child.kill('SIGTERM');
  expect((await job.ended).code).toBe(1);
  expect(job.log.at(-1)!.msg).toBe('stopped before the database was up to date');
  expect(JSON.stringify(job.log)).not.toContain('secret');
});

test('SIGTERM before the database is up: the service exits with 0', async () => {
  const nowhere = `postgres://notes:secret@127.0.0.1:${await freePort()}/notes`;
  const service = notes.start({ DATABASE_URL: nowhere });
  await service.logged(/^database is not up yet/);
  service.child.kill('SIGTERM');
  expect(await service.ended).toEqual({ code: 0, errors: '' });
});

/** Makes a process send itself a signal when it loads what `main.js health` does not need, before it handles any. */
const signalledWhileLoading = (signal: string) => {
  const preload = `import Module from 'node:module';
    const load = Module._load;
    Module._load = function (name, ...others) {
      if (name === 'node:dns/promises') process.kill(process.pid, '${signal}');
      return load.call(this, name, ...others);
    };`;
  return { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(preload)}` };
};

test.each(['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGQUIT'])('%s while it loads: the service exits with 0', async (signal) => {
  const service = notes.start(signalledWhileLoading(signal));
  expect(await service.ended).toEqual({ code: 0, errors: '' });
});

test('SIGTERM while it loads: `main.js migrate` exits with 1', async () => {
  const job = notes.start(signalledWhileLoading('SIGTERM'), 'migrate');
  expect(await job.ended).toEqual({ code: 1, errors: '' });
});

test("SIGUSR2 writes a heap snapshot by Node.js's flag, and the service serves", async () => {
  const directory = await mkdtemp(join(tmpdir(), 'diagnostics-'));
  const service = notes.start({ NODE_OPTIONS: `--heapsnapshot-signal=SIGUSR2 --diagnostic-dir=${directory}` });
  const url = await service.listening();
  service.child.kill('SIGUSR2');
  while ((await readdir(directory)).length === 0);
  expect(await readdir(directory)).toEqual([expect.stringMatching(/\.heapsnapshot$/)]);
  expect((await fetch(`${url}/notes`)).status).toBe(200);
  await rm(directory, { recursive: true });
});

test('a second signal ends the process at once', async () => {
  const service = notes.start({ SHUTDOWN_DELAY_MS: '5000' });
  await service.listening();
  service.child.kill('SIGTERM');
  await service.logged(/^draining/);
  service.child.kill('SIGTERM');
  expect((await service.ended).code).toBe(1);
});

test('a second signal resets a list over HTTP/1.0, which would look whole otherwise', async () => {
  const service = notes.start({ SHUTDOWN_DELAY_MS: '5000' });
  const url = await service.listening();
  await insertNotes(50_000);
  const { reader, ended } = await openOverHttp10(`${url}/notes?limit=50000`);
  service.child.kill('SIGTERM');
  await service.logged(/^draining/);
  service.child.kill('SIGTERM');
  await service.ended;
  reader.resume();
  expect(await ended).toBe('ECONNRESET');
});

test.each([
  ['the service', [], /^Server listening at/],
  ['the migration', ['migrate'], /^database is not up yet/],
] as const)('an unexpected error of %s is logged, and the process exits with 1', async (_, args, whenLogged) => {
  const failing = 'process.on("SIGUSR2", () => { throw new Error("unexpected") })';
  const url = new URL(notes.database.url);
  if (args.length > 0) url.port = `${await freePort()}`;
  const service = notes.start(
    { DATABASE_URL: url.href, NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(failing)}` },
    ...args,
  );
  await service.logged(whenLogged);
  service.child.kill('SIGUSR2');
  expect((await service.ended).code).toBe(1);
  const fatal: unknown = expect.objectContaining({
    level: 60,
    err: expect.objectContaining({ message: 'unexpected' }),
  });
  expect(service.log).toContainEqual(fatal);
});

test('SHUTDOWN_DELAY_MS is 1000 in production: the port closes 1 s after the signal', async () => {
  const service = notes.start({ NODE_ENV: 'production' });
  const url = await service.listening();
  const signalledAt = performance.now();
  service.child.kill('SIGTERM');
  await service.logged(/^draining/);
  const anew = { headers: { connection: 'close' } };
  const ready = () => fetch(`${url}/readyz`, anew).catch((error: unknown) => (error as Error).message);
  const answers: unknown[] = [];
  let last = await ready();
  for (; typeof last !== 'string'; last = await ready()) answers.push([last.status, await last.json()]);
  expect(last).toBe('fetch failed');
  expect(answers.length).toBeGreaterThan(0);
  expect(answers).toEqual(answers.map(() => [503, { message: 'draining' }]));
  expect(performance.now() - signalledAt).toBeGreaterThan(900);
  expect(await service.ended).toEqual({ code: 0, errors: '' });
});

test('SIGTERM: later requests on an open connection get Connection: close', async () => {
  const service = notes.start({});
  const { port } = new URL(await service.listening());
  const socket = connect(Number(port), '127.0.0.1');
  socket.write('GET /livez HTTP/1.1\r\nHost: a\r\n\r\n');
  await once(socket, 'data');
  service.child.kill('SIGTERM');
  await service.logged(/^draining/);
  // The port is closed when no client can connect.
  for (;;) {
    const late = connect(Number(port), '127.0.0.1');
    try {
      await once(late, 'connect');
      late.destroy();
    } catch {
      break;
    }
  }
  socket.write('GET /livez HTTP/1.1\r\nHost: a\r\n\r\n');
  expect(await text(socket)).toMatch(/^HTTP\/1\.1 200 .*^Connection: close\r\n/ims);
  expect(await service.ended).toEqual({ code: 0, errors: '' });
});

test('SIGTERM closes idle keep-alive connections', async () => {
  const service = notes.start({});
  const { port } = new URL(await service.listening());
  const idle = connect(Number(port), '127.0.0.1');
  idle.write('GET /livez HTTP/1.1\r\nHost: a\r\n\r\n');
  const [answer] = (await once(idle, 'data')) as [Buffer];
  expect(answer.toString()).toMatch(/^HTTP\/1\.1 200 [^]*\r\nConnection: keep-alive\r\n/);
  const signalledAt = performance.now();
  service.child.kill('SIGTERM');
  expect(await service.ended).toEqual({ code: 0, errors: '' });
  // Connections with requests in flight are closed later.
  expect(performance.now() - signalledAt).toBeLessThan(5_000);
  idle.destroy();
});
