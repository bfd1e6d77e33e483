import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect, createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { createTestDatabase, freePort, startCluster, type TestDatabase } from '@rest-services/local-postgres';
import { load, startProcess } from '@rest-services/service/testing';

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

async function createItem(url: string) {
  const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"title":"a"}' };
  return (await (await fetch(`${url}/v1/items`, init)).json()) as { id: number };
}

describe('With a database', () => {
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

  test('/readyz answers 503 draining from the signal on, while requests are still served', async () => {
    const service = startItems({ DATABASE_URL: database.url, SHUTDOWN_DELAY_MS: '8000' });
    const url = await service.listening();
    expect((await fetch(`${url}/readyz`)).status).toBe(200);
    service.child.kill('SIGTERM');
    await service.logged(/^draining/);
    const answer = await fetch(`${url}/readyz`);
    expect([answer.status, await answer.json()]).toEqual([503, { message: 'draining' }]);
    expect((await fetch(`${url}/v1/items`)).status).toBe(200);
    expect((await fetch(`${url}/livez`)).status).toBe(200);
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

  test('`main.js migrate` migrates and ends; with MIGRATE_ON_START=false the service is not ready before that', async () => {
    const service = startItems({ DATABASE_URL: database.url, MIGRATE_ON_START: 'false' });
    const url = await service.listening();
    const before = await fetch(`${url}/readyz`);
    expect([before.status, await before.json()]).toEqual([503, { message: 'migrations pending: 0001_item' }]);
    expect((await startItems({ DATABASE_URL: database.url }, 'migrate').ended).code).toBe(0);
    expect((await fetch(`${url}/readyz`)).status).toBe(200);
  });

  test('The log is JSON, one line per request with its id, and holds neither bodies nor the password', async () => {
    const service = startItems({ DATABASE_URL: database.url });
    const url = await service.listening();
    const init = {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-request-id': 'call-7' },
      body: '{"title":"s3cret"}',
    };
    const response = await fetch(`${url}/v1/items`, init);
    expect(response.headers.get('x-request-id')).toBe('call-7');
    await service.logged(/^request$/);
    service.child.kill('SIGTERM');
    await service.ended;
    const requests = service.log.filter(({ msg }) => msg === 'request');
    expect(requests).toEqual([
      expect.objectContaining({ reqId: 'call-7', method: 'POST', url: '/v1/items', status: 201 }),
    ]);
    expect(JSON.stringify(service.log)).not.toContain('s3cret');
    expect(JSON.stringify(service.log)).not.toContain(new URL(database.url).password);
  });
});

describe('When the database goes away', () => {
  let directory: string;
  let port: number;
  const startDatabase = () => startCluster(directory, { durable: true, port });

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'restart-postgres-'));
    port = await freePort();
  });
  afterAll(() => rm(directory, { recursive: true, force: true }));

  test('the service starts before the database and serves as soon as that is there', async () => {
    const first = await startDatabase();
    await first.stop();
    const service = startItems({ DATABASE_URL: first.url });
    await service.logged(/^database is not up yet/);
    const database = await startDatabase();
    expect((await fetch(`${await service.listening()}/readyz`)).status).toBe(200);
    service.child.kill('SIGTERM');
    await service.ended;
    await database.stop();
  });

  test.each([
    ['stopped', 'SIGINT'],
    ['killed', 'SIGQUIT'],
  ] as const)(
    'requests answer 500 Database error while it is %s and 200 afterwards, from the same process',
    async (_, signal) => {
      let database = await startDatabase();
      const service = startItems({ DATABASE_URL: database.url, LOG_LEVEL: 'info' });
      const url = await service.listening();
      const { id } = await createItem(url);
      const traffic = load(url, [`/v1/items/${id}`, '/v1/items', '/v1/items/summary'], 16);
      await traffic.until(({ status }) => status === 200, 100);

      process.kill(database.pid, signal);
      await traffic.until(({ status }) => status === 500, 100);
      expect(await (await fetch(`${url}/livez`)).json()).toEqual({ message: 'alive' });
      const readiness = await fetch(`${url}/readyz`);
      expect([readiness.status, await readiness.json()]).toEqual([503, { message: 'database unreachable' }]);

      database = await startDatabase();
      await traffic.until(({ status }) => status === 200, 100);
      expect((await fetch(`${url}/readyz`)).status).toBe(200);
      const outcomes = await traffic.stop();
      const failed = outcomes.filter(({ status }) => status !== 200);
      expect(failed.filter(({ status }) => status !== 500)).toEqual([]);
      for (const { body } of failed) {
        const { message, error } = JSON.parse(body!) as { message: string; error: Record<string, string> };
        expect(message).toBe('Database error');
        expect(Object.keys(error)).toEqual(['code']);
        expect(error.code).toMatch(/^[A-Z0-9_]+$/);
      }
      service.child.kill('SIGTERM');
      expect((await service.ended).code).toBe(0);
      await database.stop();
    },
  );
});
