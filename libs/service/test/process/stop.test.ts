import { once } from 'node:events';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { text } from 'node:stream/consumers';
import { expect, test } from '@jest/globals';
import { freePort } from '@rest-services/local-postgres';
import { load, unlike } from '@rest-services/testing';
import { getJson, openSocket } from '../http.ts';
import { openOverHttp10 } from '../open-list.ts';
import { createNote, insertNotes, notes, startListening } from './notes-process.ts';

const signals = ['SIGTERM', 'SIGINT'] as const;
test.each(signals)('%s: /readyz is 503 at once, the port closes later, requests in flight finish', async (signal) => {
  const { url, ...service } = await startListening({ SHUTDOWN_DELAY_MS: '500' });
  await createNote(url);
  const heldUp = monitorEventLoopDelay();
  heldUp.enable();
  const traffic = load(url, ['/notes'], 8);
  await traffic.until(({ status }) => status === 200, 50);
  const signalledAt = performance.now();
  const closed = traffic.until(({ failure }) => failure === 'ECONNREFUSED').then(() => performance.now());
  service.child.kill(signal);
  await service.logged(/^draining/);
  expect(await getJson(`${url}/readyz`)).toEqual([503, { message: 'draining' }]);
  expect(await service.ended).toEqual({ code: 0, errors: '' });
  expect((await closed) - signalledAt).toBeGreaterThan(400);
  const outcomes = await traffic.stop();
  // The kernel resets connections that the process has not accepted when the port closes.
  const isLost = ({ failure, isReused }: (typeof outcomes)[number]) =>
    failure !== undefined && (isReused || !['ECONNREFUSED', 'ECONNRESET'].includes(failure));
  // Clients that a busy machine has held up may find their connections closed, which were idle for 500 ms.
  expect(heldUp.max > 400e6 ? [] : outcomes.filter(isLost)).toEqual([]);
  // As at any other time, one may wait for the database for too long, which takes a second.
  const answers = outcomes.filter(({ failure }) => failure === undefined);
  expect(unlike(answers, 200, 503)).toEqual([]);
  expect(service.log.filter(({ status, ms }) => status === 503 && (ms as number) < 900)).toEqual([]);
});

test('SIGTERM: lists are sent to their end, other responses have Connection: close, idle connections are closed', async () => {
  const { url, ...service } = await startListening();
  await insertNotes(50_000);
  const list = await fetch(`${url}/notes?limit=50000`);
  const [inFlight, open, idle] = [openSocket(url), openSocket(url), openSocket(url)];
  const probe = 'GET /livez HTTP/1.1\r\nHost: a\r\n\r\n';
  // The service has read the second request when the first response arrives.
  const head = 'POST /notes HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 13\r\n\r\n';
  for (const [socket, sent] of [
    [inFlight, probe + head],
    [open, probe],
    [idle, probe],
  ] as const) {
    socket.write(sent);
    const [response] = (await once(socket, 'data')) as [Buffer];
    expect(response.toString()).toMatch(/^HTTP\/1\.1 200 [^]*\r\nConnection: keep-alive\r\n/);
  }
  service.child.kill('SIGTERM');
  await service.logged(/^draining/);
  for (let answer = ''; !/^Connection: close\r$/im.test(answer); answer = String((await once(open, 'data'))[0]))
    open.write(probe);
  inFlight.write('{"title":"a"}');
  expect(await text(inFlight)).toMatch(/^HTTP\/1\.1 201 .*^Connection: close\r\n/ims);
  expect(await text(idle)).toBe('');
  expect(await list.json()).toHaveLength(50_000);
  expect(await service.ended).toEqual({ code: 0, errors: '' });
});

test('a second signal ends the process at once, and resets a list over HTTP/1.0, which would look whole', async () => {
  const { url, ...service } = await startListening({ SHUTDOWN_DELAY_MS: '5000' });
  await insertNotes(50_000);
  const { reader, ended } = await openOverHttp10(`${url}/notes?limit=50000`);
  service.child.kill('SIGTERM');
  await service.logged(/^draining/);
  service.child.kill('SIGTERM');
  expect((await service.ended).code).toBe(1);
  reader.resume();
  expect(await ended).toBe('ECONNRESET');
});

/** @returns the port of a server that says of itself that it is starting up */
async function startStarting() {
  const response = Buffer.from('E....SFATAL\0C57P03\0Mthe database system is starting up\0\0');
  response.writeInt32BE(response.length - 1, 1);
  const server = createServer((socket) => socket.once('data', () => socket.end(response)));
  await once(server.listen(0, '127.0.0.1').unref(), 'listening');
  return (server.address() as AddressInfo).port;
}

test.each<[string, () => Promise<number>, string[], number, string]>([
  ['is down', freePort, [], 0, 'stopped'],
  ['is starting up', startStarting, [], 0, 'stopped'],
  ['is down', freePort, ['migrate'], 1, 'stopped before the database was up to date'],
])('SIGTERM while the database %s ends the wait for it', async (_, findPort, args, code, last) => {
  const service = notes.start({ DATABASE_URL: `postgres://notes@127.0.0.1:${await findPort()}/notes` }, ...args);
  await service.logged(/^database is not up yet/);
  service.child.kill('SIGTERM');
  expect(await service.ended).toEqual({ code, errors: '' });
  expect(service.log.map(({ msg }) => msg)).toContain(last);
});

const preloaded = (code: string) => ({ NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(code)}` });

test.each([
  ['SIGTERM', [], 0],
  ['SIGINT', [], 0],
  ['SIGHUP', [], 0],
  ['SIGQUIT', [], 0],
  ['SIGTERM', ['migrate'], 1],
])('%s while it loads: `main.js %s` exits', async (signal, args, code) => {
  // It signals itself when it loads what `main.js health` does not need, before it handles any.
  const service = notes.start(
    preloaded(`import { registerHooks } from 'node:module';
      registerHooks({
        resolve(name, context, next) {
          if (name === 'node:dns/promises') process.kill(process.pid, '${signal}');
          return next(name, context);
        },
      });`),
    ...args,
  );
  expect(await service.ended).toEqual({ code, errors: '' });
});

test.each([
  ['the service', [], /^Server listening at/],
  ['the migration', ['migrate'], /^database is not up yet/],
] as const)('an unexpected error of %s is logged, and the process exits with 1', async (_, args, whenLogged) => {
  const url = new URL(notes.database.url);
  if (args.length > 0) url.port = `${await freePort()}`;
  const failing = preloaded('process.on("SIGUSR2", () => { throw new Error("unexpected") })');
  const service = notes.start({ DATABASE_URL: url.href, ...failing }, ...args);
  await service.logged(whenLogged);
  service.child.kill('SIGUSR2');
  expect((await service.ended).code).toBe(1);
  const err: unknown = expect.objectContaining({ message: 'unexpected' });
  expect(service.log).toContainEqual(expect.objectContaining({ level: 60, err }));
});

test("SIGUSR2 ends no service, and writes a heap snapshot by Node.js's flag", async () => {
  const folder = await mkdtemp(join(tmpdir(), 'diagnostics-'));
  for (const [flags, files] of [
    ['', 0],
    [`--heapsnapshot-signal=SIGUSR2 --diagnostic-dir=${folder}`, 1],
  ] as const) {
    const { url, ...service } = await startListening({ NODE_OPTIONS: flags });
    service.child.kill('SIGUSR2');
    while ((await readdir(folder)).length < files);
    expect((await fetch(`${url}/notes`)).status).toBe(200);
    service.child.kill('SIGTERM');
    expect(await service.ended).toEqual({ code: 0, errors: '' });
  }
  expect(await readdir(folder)).toEqual([expect.stringMatching(/\.heapsnapshot$/)]);
  await rm(folder, { recursive: true });
});
