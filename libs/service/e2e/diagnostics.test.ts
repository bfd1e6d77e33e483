import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { freePort } from '@rest-services/local-postgres';
import { load } from '@rest-services/testing';
import { createNote, notes } from '../test/process/notes-process.ts';

let directory: string;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'diagnostics-'));
});

afterEach(() => rm(directory, { recursive: true, force: true }));

const statusOf = async (url: string) => (await fetch(url)).status;

async function jsonOf(path: string) {
  return JSON.parse(await readFile(path, 'utf8')) as Record<string, unknown>;
}

test('SIGUSR2 writes a heap snapshot, logs its path, and the service serves', async () => {
  const service = notes.start({ DIAGNOSTICS_DIRECTORY: directory });
  const url = await service.listening();
  await createNote(url);
  const paths: string[] = [];
  while (paths.length < 2) {
    service.child.kill('SIGUSR2');
    const isNext = ({ msg, path }: { msg: string; path?: unknown }) =>
      msg === 'Heap snapshot written' && !paths.includes(path as string);
    paths.push((await service.logged(isNext)).path as string);
    expect(await statusOf(`${url}/notes/1`)).toBe(200);
  }
  expect((await readdir(directory)).sort()).toEqual(paths.map((path) => basename(path)).sort());
  for (const path of paths) {
    expect(basename(path)).toMatch(
      new RegExp(String.raw`^notes-${service.child.pid}-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-\d{3}Z\.heapsnapshot$`),
    );
    expect(await jsonOf(path)).toMatchObject({ snapshot: { node_count: expect.any(Number) } });
    expect((await stat(path)).mode & 0o777).toBe(0o600);
  }
});

test('SIGUSR1 writes a CPU profile of five seconds of requests, and logs its path', async () => {
  const service = notes.start({ DIAGNOSTICS_DIRECTORY: directory });
  const url = await service.listening();
  const traffic = load(url, ['/notes'], 2);
  await traffic.until(({ status }) => status === 200, 1);
  service.child.kill('SIGUSR1');
  const { path } = await service.logged(/^CPU profile written$/);
  await traffic.stop();
  expect(await statusOf(`${url}/notes`)).toBe(200);
  expect(await readdir(directory)).toEqual([basename(path as string)]);
  expect(basename(path as string)).toMatch(new RegExp(String.raw`^notes-${service.child.pid}-[\dTZ-]+\.cpuprofile$`));
  const { startTime, endTime, nodes } = (await jsonOf(path as string)) as {
    startTime: number;
    endTime: number;
    nodes: { callFrame: { url: string } }[];
  };
  expect(endTime - startTime).toBeGreaterThan(4_000_000);
  expect(nodes.some(({ callFrame }) => callFrame.url.endsWith('main.js'))).toBe(true);
  // Node's inspector would say there that it listens.
  service.child.kill('SIGTERM');
  expect(await service.ended).toEqual({ code: 0, errors: '' });
});

test.each([
  ['SIGUSR1', 'CPU profile'],
  ['SIGUSR2', 'Heap snapshot'],
] as const)('%s without DIAGNOSTICS_DIRECTORY writes no file, and one log line says so', async (signal, what) => {
  const before = await readdir('.');
  const service = notes.start({ LOG_LEVEL: 'info' });
  const url = await service.listening();
  service.child.kill(signal);
  await service.logged(({ msg }) => msg === `${what} not written: DIAGNOSTICS_DIRECTORY is not set`);
  expect(await statusOf(`${url}/notes`)).toBe(200);
  service.child.kill('SIGTERM');
  expect(await service.ended).toEqual({ code: 0, errors: '' });
  expect(service.log.filter(({ msg }) => msg.startsWith(what))).toHaveLength(1);
  expect(await readdir('.')).toEqual(before);
});

test('a snapshot overwrites no file: the log has the error, and the service serves', async () => {
  const sameTime = 'Date.prototype.toISOString = () => "2026-01-01T00:00:00.000Z"';
  const service = notes.start({
    DIAGNOSTICS_DIRECTORY: directory,
    NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(sameTime)}`,
  });
  const url = await service.listening();
  service.child.kill('SIGUSR2');
  const { path } = await service.logged(/^Heap snapshot written$/);
  const { mtimeMs } = await stat(path as string);
  service.child.kill('SIGUSR2');
  const { err } = await service.logged(/^Heap snapshot not written$/);
  expect(err).toMatchObject({ code: 'EEXIST' });
  expect((await stat(path as string)).mtimeMs).toBe(mtimeMs);
  expect(await statusOf(`${url}/notes`)).toBe(200);
});

test('a directory that is gone: the log has the error, and the service serves', async () => {
  const service = notes.start({ DIAGNOSTICS_DIRECTORY: directory });
  const url = await service.listening();
  await rm(directory, { recursive: true });
  service.child.kill('SIGUSR2');
  const { err } = await service.logged(/^Heap snapshot not written$/);
  expect(err).toMatchObject({ code: 'ENOENT' });
  expect(await statusOf(`${url}/notes`)).toBe(200);
});

test('SIGTTIN sets the log level debug, and SIGTTOU that of LOG_LEVEL again', async () => {
  const PORT = `${await freePort()}`;
  const url = `http://127.0.0.1:${PORT}`;
  const service = notes.start({ LOG_LEVEL: 'warn', PORT });
  const isServed = () =>
    fetch(`${url}/livez`).then(
      () => true,
      () => false,
    );
  // The log does not say that the service listens.
  while (!(await isServed()));
  const request = async (mark: string) => {
    for (const path of ['livez', 'notes']) await (await fetch(`${url}/${path}?${mark}`)).text();
  };
  const changed = (level: string) => service.logged(({ logLevel }) => logLevel === level);
  await request('before');
  service.child.kill('SIGTTIN');
  expect(await changed('debug')).toMatchObject({ level: 30, msg: 'Log level changed' });
  await request('between');
  service.child.kill('SIGTTOU');
  expect(await changed('warn')).toMatchObject({ level: 30, msg: 'Log level changed' });
  await request('after');
  service.child.kill('SIGTERM');
  expect(await service.ended).toEqual({ code: 0, errors: '' });
  const requests = service.log.filter(({ msg }) => msg === 'request');
  expect(requests.map(({ url }) => url)).toEqual(['/livez?between', '/notes?between']);
});
