import { describe, expect, test } from '@jest/globals';
import { freePort } from '@rest-services/local-postgres';
import { load, send, processesOf, testOperations } from '@rest-services/testing';
import { notesMain } from '../notes/bundled.ts';

// What operators rely on in every service.

const main = notesMain();
const list = '/notes';

testOperations({
  name: 'notes',
  main,
  defaultPort: 8090,
  list,
  record: { title: 'Buy milk' },
  firstMigration: '0001_note',
  writes: (number) => [
    { method: 'POST', path: list, body: { title: `Note ${number}` } },
    { method: 'PUT', path: `${list}/${number}`, body: { title: 'Done' } },
    { method: 'DELETE', path: `${list}/${number}` },
  ],
  failure: { message: 'Database error', error: { code: expect.any(String) } },
});

const processes = processesOf(main);
const { start } = processes;

const create = (url: string) => send(url, { method: 'POST', path: list, body: { title: 'a' } });
const jsonOf = async (url: string) => {
  const response = await fetch(url);
  return [response.status, await response.json()];
};

describe('Settings', () => {
  test('DATABASE_URL has no default: the service exits with code 1 without it', async () => {
    const { code, errors } = await start({ DATABASE_URL: '' }).ended;
    expect([code, errors]).toEqual([1, expect.stringMatching(/^DATABASE_URL must be set, [^\n]+\n$/)]);
  });

  test('a password in DATABASE_URL is neither in the log nor on stderr', async () => {
    const url = new URL(processes.database.url);
    // Percent-encoded in the setting, and decoded on its way to the server.
    url.password = 'pa55word%24';
    const refused = start({ DATABASE_URL: url.href, LOG_LEVEL: 'trace' });
    url.port = `${await freePort()}`;
    const unreachable = start({ DATABASE_URL: url.href, LOG_LEVEL: 'trace' });
    const migrating = start({ DATABASE_MIGRATION_URL: url.href, LOG_LEVEL: 'trace' }, 'migrate');
    for (const service of [unreachable, migrating]) {
      await service.logged(/^database is not up yet/);
      service.child.kill('SIGTERM');
    }
    for (const { ended, log } of [refused, unreachable, migrating]) {
      const { errors } = await ended;
      expect(log).not.toEqual([]);
      expect(JSON.stringify(log) + errors).not.toContain('pa55word');
    }
    expect(await refused.ended).toEqual({ code: 1, errors: '' });
  });
});

describe('Endpoints', () => {
  test('`node main.js health` exits with 0 while the service is alive, and with 1 otherwise', async () => {
    const url = await start().listening();
    const { port } = new URL(url);
    expect((await start({ PORT: port }, 'health').ended).code).toBe(0);
    expect((await start({ PORT: `${await freePort()}` }, 'health').ended).code).toBe(1);
    // It does not read the other settings.
    expect(await start({ PORT: port, DATABASE_URL: '' }, 'health').ended).toEqual({ code: 0, errors: '' });
  });

  test('responds 431 to a path that is too long, also with a larger limit in NODE_OPTIONS', async () => {
    const url = await start({ NODE_OPTIONS: '--max-http-header-size=65536' }).listening();
    for (const path of [`/${'1'.repeat(20_000)}`, `${list}/${'1'.repeat(20_000)}`]) {
      expect(await jsonOf(url + path)).toEqual([431, { message: 'The URL and the headers are too long' }]);
    }
    expect(await jsonOf(`${url}/livez`)).toEqual([200, { message: 'alive' }]);
  });

  test('/openapi.json has the version of the service', async () => {
    const url = await start().listening();
    expect(await jsonOf(`${url}/openapi.json`)).toEqual([
      200,
      expect.objectContaining({ info: expect.objectContaining({ version: '1.2.3' }) }),
    ]);
  });

  test('/metrics has version and revision, and ends only names of counters with _total', async () => {
    const url = await start({ SERVICE_REVISION: 'abc' }).listening();
    const metrics = await (await fetch(`${url}/metrics`)).text();
    const labels = `service="notes",version="1.2.3",revision="abc",node_version="${process.version}"`;
    expect(metrics).toContain(`\nservice_build_info{${labels}} 1\n`);
    const totals = [...metrics.matchAll(/^# TYPE \S+_total (\w+)$/gm)].map(([, type]) => type);
    expect(new Set(totals)).toEqual(new Set(['counter']));
  });
});

test.each(['SIGTERM', 'SIGINT'] as const)(
  '%s: /readyz responds 503 at once, the port closes later, requests in flight finish',
  async (signal) => {
    const service = start({ SHUTDOWN_DELAY_MS: '500' });
    const url = await service.listening();
    await create(url);
    const traffic = load(url, [list], 8);
    await traffic.until(({ status }) => status === 200, 50);
    const signalledAt = performance.now();
    const listened = traffic
      .until(({ failure }) => failure === 'ECONNREFUSED')
      .then(() => performance.now() - signalledAt);
    service.child.kill(signal);
    await service.logged(/^draining/);
    expect(await jsonOf(`${url}/readyz`)).toEqual([503, { message: 'draining' }]);
    expect(await service.ended).toEqual({ code: 0, errors: '' });
    const outcomes = await traffic.refused();
    expect(await listened).toBeGreaterThan(400);
    // The kernel resets connections that the process has not accepted when the port closes.
    const isLost = ({ failure, isReused }: (typeof outcomes)[number]) =>
      failure !== undefined && (isReused || !['ECONNREFUSED', 'ECONNRESET'].includes(failure));
    expect(outcomes.filter(isLost)).toEqual([]);
    // A busy machine may be overloaded at any time.
    const isOverloaded = ({ retryAfter }: (typeof outcomes)[number]) => retryAfter === '1';
    expect(outcomes.filter((each) => (each.status ?? 200) !== 200 && !isOverloaded(each))).toEqual([]);
  },
);
