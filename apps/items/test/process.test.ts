import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect, createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { openDatabase } from '@rest-services/database';
import { createTestDatabase, freePort, type TestDatabase } from '@rest-services/local-postgres';
import { load, startProcess } from '@rest-services/service/testing';
import { sql } from 'kysely';

// The service as it runs in production: a process of its own, stopped by signals.

const main = join(import.meta.dirname, '../src/main.ts');
const processes: ReturnType<typeof startProcess>[] = [];

function startItems(environment: NodeJS.ProcessEnv, ...args: string[]) {
  const service = startProcess(main, environment, ...args);
  processes.push(service);
  return service;
}

afterEach(async () => {
  const started = processes.splice(0);
  started.forEach(({ child }) => child.kill('SIGKILL'));
  await Promise.all(started.map(({ ended }) => ended));
});

async function insertItems(count: number) {
  const db = openDatabase({ url: database.url, poolMax: 1, timeouts: false, onConnectionError: () => undefined });
  await sql`insert into item (title) select 'Item ' || n from generate_series(1, ${count}) n`.execute(db);
  await db.destroy();
}

async function createItem(url: string) {
  const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"title":"a"}' };
  return (await (await fetch(`${url}/v1/items`, init)).json()) as { id: number };
}

let database: TestDatabase;
beforeEach(async () => {
  database = await createTestDatabase();
});
afterEach(() => database.drop());

test.each(['SIGTERM', 'SIGINT'] as const)(
  '%s under load fails no request that had been accepted, and ends with code 0',
  async (signal) => {
    const service = startItems({ DATABASE_URL: database.url });
    const url = await service.listening();
    const { id } = await createItem(url);
    const traffic = load(url, [`/v1/items/${id}`, '/v1/items', '/v1/items/summary'], 32);
    await traffic.until(({ status }) => status === 200, 500);

    service.child.kill(signal);
    expect(await service.ended).toEqual({ code: 0, errors: '' });
    const outcomes = await traffic.refused();
    const failed = outcomes.filter(
      ({ status, failure, isReused }) => status !== 200 && (failure !== 'ECONNREFUSED' || isReused),
    );
    // A connection that the kernel had taken, but not yet the process, is reset when the port closes.
    expect(failed.filter(({ failure, isReused }) => failure !== 'ECONNRESET' || isReused)).toEqual([]);
  },
);

test('SIGTERM waits for a request that is under way and for a list that is being read', async () => {
  const service = startItems({ DATABASE_URL: database.url });
  const url = await service.listening();
  const { id } = await createItem(url);

  const agentLess = load(url, [`/v1/items/${id}`], 1);
  await agentLess.until(({ status }) => status === 200, 3);
  const response = await fetch(`${url}/v1/items?limit=1000000`);
  service.child.kill('SIGTERM');
  await service.logged(/^draining/);
  expect(await response.json()).toHaveLength(1);
  await agentLess.stop();
  expect((await service.ended).code).toBe(0);
});

test('SIGTERM lets a long list be read to its end', async () => {
  const service = startItems({ DATABASE_URL: database.url });
  const url = await service.listening();
  await insertItems(50_000);
  const response = await fetch(`${url}/v1/items?limit=1000000`);
  service.child.kill('SIGTERM');
  await service.logged(/^draining/);
  expect(await response.json()).toHaveLength(50_000);
  expect((await service.ended).code).toBe(0);
});

test('`main.js migrate` that is stopped before it has migrated does not end as if it had', async () => {
  const nowhere = `postgres://items:secret@127.0.0.1:${await freePort()}/items`;
  const job = startItems({ DATABASE_URL: nowhere }, 'migrate');
  await job.logged(/^database is not up yet/);
  job.child.kill('SIGTERM');
  expect((await job.ended).code).toBe(1);
  expect(JSON.stringify(job.log)).not.toContain('secret');
});

test('A password that the database refuses ends the process with exit code 1 and no retries', async () => {
  const url = new URL(database.url);
  url.password = 'wr0ng';
  const { code } = await startItems({ DATABASE_URL: url.href }).ended;
  expect(code).toBe(1);
});

test('An older image that meets a newer schema starts and serves', async () => {
  expect((await startItems({ DATABASE_URL: database.url }, 'migrate').ended).code).toBe(0);
  const db = openDatabase({ url: database.url, poolMax: 1, onConnectionError: () => undefined });
  await sql`insert into kysely_migration (name, timestamp) values ('9999_newer', '2100-01-01T00:00:00.000Z')`.execute(
    db,
  );
  await sql`alter table item add column newer text`.execute(db);
  await db.destroy();
  const url = await startItems({ DATABASE_URL: database.url }).listening();
  expect((await fetch(`${url}/readyz`)).status).toBe(200);
  const { id } = await createItem(url);
  const item = (await (await fetch(`${url}/v1/items/${id}`)).json()) as object;
  expect(Object.keys(item)).not.toContain('newer');
});

test('Connections on which nothing, or half a request, is sent do not prevent the end', async () => {
  const service = startItems({ DATABASE_URL: database.url });
  const { port } = new URL(await service.listening());
  const silent = connect(Number(port), '127.0.0.1');
  const halfSent = connect(Number(port), '127.0.0.1');
  await Promise.all([once(silent, 'connect'), once(halfSent, 'connect')]);
  halfSent.write('GET /v1/items HTTP/1.1\r\nHost:');
  await fetch(`http://127.0.0.1:${port}/livez`);
  service.child.kill('SIGTERM');
  expect((await service.ended).code).toBe(0);
  silent.destroy();
  halfSent.destroy();
});

test('A second signal ends the process at once', async () => {
  const service = startItems({ DATABASE_URL: database.url, SHUTDOWN_DELAY_MS: '8000' });
  await service.listening();
  service.child.kill('SIGTERM');
  await service.logged(/^draining/);
  service.child.kill('SIGTERM');
  expect((await service.ended).code).toBe(1);
});

test('A port that is taken ends the process with code 1 and one line that names it', async () => {
  const other = createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  const { port } = other.address() as AddressInfo;
  const { code, errors } = await startItems({ DATABASE_URL: database.url, PORT: `${port}` }).ended;
  other.close();
  expect(code).toBe(1);
  expect(errors).toMatch(new RegExp(`^Port ${port} is taken on 127\\.0\\.0\\.1: [^\\n]*\\n$`));
});

test.each([
  ['PORT', 'http'],
  ['DATABASE_POOL_MAX', '0'],
  ['MIGRATE_ON_START', 'yes'],
  ['CORS_ORIGIN', 'example.org'],
  ['LOG_LEVEL', 'loud'],
  ['NODE_ENV', 'prod'],
  ['SHUTDOWN_DELAY_MS', '-1'],
])(
  'a wrong %s ends the process with exit code 1 and one line that names it, what it was and what is allowed',
  async (name, value) => {
    const { code, errors } = await startItems({ DATABASE_URL: database.url, [name]: value }).ended;
    expect([code, errors]).toEqual([
      1,
      expect.stringMatching(new RegExp(`^${name} must be [^\\n]+; it is "${value}"\\n$`)),
    ]);
  },
);

test('X_FILE: the secret is read from this file', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'secret-'));
  await writeFile(join(folder, 'url'), `${database.url}\n`);
  const service = startItems({ DATABASE_URL: '', DATABASE_URL_FILE: join(folder, 'url') });
  expect((await fetch(`${await service.listening()}/readyz`)).status).toBe(200);
  await rm(folder, { recursive: true });
});

test('a command that is none ends the process with exit code 1 and one line', async () => {
  const { code, errors } = await startItems({ DATABASE_URL: database.url }, 'serve').ended;
  expect([code, errors]).toEqual([1, expect.stringMatching(/^serve is no command; [^\n]+\n$/)]);
});

test('a request that does not send its headers or its body in time is cut, and others are served meanwhile', async () => {
  const url = await startItems({ DATABASE_URL: database.url }).listening();
  const { port } = new URL(url);
  const [headers, body] = [connect(Number(port), '127.0.0.1'), connect(Number(port), '127.0.0.1')];
  await Promise.all([once(headers, 'connect'), once(body, 'connect')]);
  headers.write(`GET /v1/items HTTP/1.1\r\nHost: a\r\n`);
  body.write(
    `POST /v1/items HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{"a":`,
  );
  expect((await fetch(`${url}/v1/items`)).status).toBe(200);
  const cut = await Promise.all([headers, body].map((socket) => text(socket)));
  for (const said of cut) expect(said).toMatch(/^(HTTP\/1\.1 408 |$)/);
});
