import { describe, expect, test } from '@jest/globals';
import { freePort } from '@rest-services/local-postgres';
import { load, openTestConnection, processesOf, send, sendJson } from '@rest-services/testing';
import { sql } from 'kysely';
import { notesMain } from '../notes/bundled.ts';

// What operators rely on in every service.

const list = '/notes';

const processes = processesOf(notesMain());
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

  test('/docs is a page that loads everything it needs from the service', async () => {
    const url = await start({ NODE_ENV: 'production', SHUTDOWN_DELAY_MS: '0' }).listening();
    const page = await fetch(`${url}/docs`, { headers: { accept: 'text/html' } });
    expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
    const files = [...(await page.text()).matchAll(/(?:src|href)="([^"]+)"/g)].map((match) => match[1]!);
    expect(files.length).toBeGreaterThan(3);
    for (const file of files) {
      const { status } = await fetch(new URL(file, url));
      expect([file, status]).toEqual([expect.stringMatching(/^\/docs\//), 200]);
    }
  });

  test('the Location of a 201 is the URL of the new record', async () => {
    const url = await start().listening();
    for (const path of [list, `${list}/`, `${list}?a=/b`, `${list}/?a=/b`]) {
      const { status, headers, body } = await sendJson(url, 'POST', path, { title: 'a' });
      const { id } = body as { id: number };
      expect([path, status, new URL(headers.get('location')!, url + path).href]).toEqual([
        path,
        201,
        `${url}${list}/${id}`,
      ]);
      const behindProxy = `https://a.example/prefix${path}`;
      expect(new URL(headers.get('location')!, behindProxy).href).toBe(`https://a.example/prefix${list}/${id}`);
    }
  });

  test('/metrics counts requests, shows pool and process, and has version and revision', async () => {
    const url = await start({ SERVICE_REVISION: 'abc' }).listening();
    await create(url);
    for (const path of [list, '/docs']) await fetch(url + path);
    await fetch(`${url}/nowhere/${Math.random()}`, { method: 'DELETE' });
    let lines: string[];
    const scrape = async () => {
      const response = await fetch(`${url}/metrics`, { headers: { accept: 'text/html' } });
      expect(response.headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/);
      lines = (await response.text()).split('\n');
    };
    const value = (name: string, ...labels: string[]) =>
      Number(
        lines
          .find((line) => line.startsWith(name) && labels.every((label) => line.includes(label)))
          ?.split(' ')
          .pop(),
      );
    await scrape();
    // The service uses a connection itself when it folds row counts.
    while (value('database_pool_connections', 'state="in_use"') > 0) await scrape();
    const route = (template: string) => `route="${template}"`;
    const count = 'http_request_duration_seconds_count';
    expect(value(count, 'method="POST"', route(list), 'status="201"')).toBe(1);
    expect(value(count, 'method="GET"', route(list), 'status="200"')).toBe(1);
    expect(value(count, 'method="DELETE"', route('none'), 'status="404"')).toBe(1);
    expect(value('http_request_duration_seconds_bucket', route(list), 'status="20', 'le="10"')).toBe(1);
    expect(value('http_request_duration_seconds_sum', 'method="GET"', route(list))).toBeGreaterThan(0);
    expect(value('database_pool_connections', 'state="idle"')).toBeGreaterThanOrEqual(1);
    expect(value('database_pool_connections', 'state="waiting"')).toBe(0);
    expect(value('process_resident_memory_bytes')).toBeGreaterThan(10_000_000);
    expect(value('nodejs_eventloop_lag_p99_seconds')).toBeGreaterThanOrEqual(0);
    const labels = `service="notes",version="1.2.3",revision="abc",node_version="${process.version}"`;
    expect(lines!).toContain(`service_build_info{${labels}} 1`);
    const totals = lines!.flatMap((line) => /^# TYPE \S+_total (\w+)$/.exec(line)?.[1] ?? []);
    expect(new Set(totals)).toEqual(new Set(['counter']));
  });

  test('sessions have the name of the service, unless DATABASE_URL has another', async () => {
    const sessions = async (query: string) => {
      const service = start({ DATABASE_URL: processes.database.url + query });
      const url = await service.listening();
      for (const path of ['/readyz', list]) expect((await sendJson(url, 'GET', path)).status).toBe(200);
      const db = openTestConnection(processes.database.url);
      const { rows } = await sql<{ name: string }>`
        select application_name as name from pg_stat_activity
        where datname = current_database() and pid <> pg_backend_pid()`.execute(db);
      await db.destroy();
      service.child.kill('SIGTERM');
      await service.ended;
      return new Set(rows.map((row) => row.name));
    };
    expect(await sessions('')).toEqual(new Set(['notes']));
    expect(await sessions('?application_name=other')).toEqual(new Set(['other']));
  });
});

test('the log has one JSON line per request with its x-request-id, no bodies, no secrets', async () => {
  const service = start();
  const url = await service.listening();
  const headers = { 'x-request-id': 'call-7', authorization: 'Bearer s3cret', cookie: 'session=s3cret' };
  const { status, headers: received } = await sendJson(url, 'POST', list, { title: 's3cret' }, headers);
  expect([status, received.get('x-request-id')]).toEqual([201, 'call-7']);
  await service.logged(/^request$/);
  service.child.kill('SIGTERM');
  await service.ended;
  expect(service.log.filter(({ msg }) => msg === 'request')).toEqual([
    expect.objectContaining({ reqId: 'call-7', method: 'POST', url: list, status: 201 }),
  ]);
  expect(JSON.stringify(service.log)).not.toContain('s3cret');
  expect(JSON.stringify(service.log)).not.toContain(new URL(processes.database.url).password);
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
    expect(outcomes.filter(({ status = 200 }) => status !== 200)).toEqual([]);
  },
);

test('an unknown command: exit code 1 and one line', async () => {
  const { code, errors } = await start({}, 'serve').ended;
  expect([code, errors]).toEqual([1, expect.stringMatching(/^serve is no command; [^\n]+\n$/)]);
});
