import { once } from 'node:events';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, test } from '@jest/globals';
import { freePort } from '@rest-services/local-postgres';
import { load } from '@rest-services/testing';
import { openSocket } from '../http.ts';
import { openOverHttp10 } from '../open-list.ts';
import { insertNotes, notes } from './notes-process.ts';

test('SIGTERM: the response to a request in flight has Connection: close', async () => {
  const service = notes.start({});
  const url = await service.listening();
  const socket = openSocket(url);
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

test.each([
  ['SIGTERM', [], 0],
  ['SIGINT', [], 0],
  ['SIGHUP', [], 0],
  ['SIGQUIT', [], 0],
  ['SIGTERM', ['migrate'], 1],
])('%s while it loads: `main.js %s` exits', async (signal, args, code) => {
  const service = notes.start(signalledWhileLoading(signal), ...args);
  expect(await service.ended).toEqual({ code, errors: '' });
});

test('SIGUSR2 ends no service', async () => {
  const service = notes.start({});
  const url = await service.listening();
  service.child.kill('SIGUSR2');
  expect((await fetch(`${url}/notes`)).status).toBe(200);
  service.child.kill('SIGTERM');
  expect(await service.ended).toEqual({ code: 0, errors: '' });
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

test('a second signal ends the process at once, and resets a list over HTTP/1.0, which would look whole', async () => {
  const service = notes.start({ SHUTDOWN_DELAY_MS: '5000' });
  const url = await service.listening();
  await insertNotes(50_000);
  const { reader, ended } = await openOverHttp10(`${url}/notes?limit=50000`);
  service.child.kill('SIGTERM');
  await service.logged(/^draining/);
  service.child.kill('SIGTERM');
  expect((await service.ended).code).toBe(1);
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

test('SIGTERM: a request on an open connection gets Connection: close, and idle connections are closed', async () => {
  const service = notes.start({});
  const url = await service.listening();
  const [socket, idle] = [openSocket(url), openSocket(url)];
  for (const each of [socket, idle]) {
    each.write('GET /livez HTTP/1.1\r\nHost: a\r\n\r\n');
    const [response] = (await once(each, 'data')) as [Buffer];
    expect(response.toString()).toMatch(/^HTTP\/1\.1 200 [^]*\r\nConnection: keep-alive\r\n/);
  }
  service.child.kill('SIGTERM');
  await service.logged(/^draining/);
  await load(url, ['/livez'], 1).refused();
  socket.write('GET /livez HTTP/1.1\r\nHost: a\r\n\r\n');
  expect(await text(socket)).toMatch(/^HTTP\/1\.1 200 .*^Connection: close\r\n/ims);
  expect(await text(idle)).toBe('');
  expect(await service.ended).toEqual({ code: 0, errors: '' });
});
