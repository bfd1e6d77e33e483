import { describe, expect, test } from '@jest/globals';
import { freePort } from '@rest-services/local-postgres';
import { load, openTestConnection, processesOf, send, sendJson } from '@rest-services/testing';
import { sql } from 'kysely';
import { getJson, scrape } from '../http.ts';
import { notesMain } from '../notes/bundled.ts';

// What operators rely on in every service.

const list = '/notes';

const processes = processesOf(notesMain());
const { start } = processes;

const create = (url: string) => send(url, { method: 'POST', path: list, body: { title: 'a' } });
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
      expect(await getJson(url + path)).toEqual([431, { message: 'The URL and the headers are too long' }]);
    }
    expect(await getJson(`${url}/livez`)).toEqual([200, { message: 'alive' }]);
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
    const root = await fetch(url);
    expect([root.status, root.headers.get('link')]).toEqual([
      404,
      '<docs>; rel="service-doc", <openapi.json>; rel="service-desc"',
    ]);
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

  test('a number in a path that JavaScript does not hold exactly is a missing record', async () => {
    const url = await start().listening();
    const db = openTestConnection(processes.database.url);
    const id = Number.MAX_SAFE_INTEGER;
    await sql`insert into note (id, title) overriding system value values (${id}, 'largest')`.execute(db);
    await db.destroy();
    for (const method of ['GET', 'PUT', 'DELETE']) {
      const body = method === 'PUT' ? { title: 'new' } : undefined;
      const { status } = await sendJson(url, method, `${list}/9007199254740992`, body);
      expect([method, status]).toEqual([method, 404]);
    }
    expect(await getJson(`${url}${list}/${id}`)).toEqual([200, { id, title: 'largest' }]);
  });

  test('/metrics counts requests, shows pool and process, and has version and revision', async () => {
    const url = await start({ SERVICE_REVISION: 'abc' }).listening();
    await create(url);
    for (const path of [list, '/docs']) await fetch(url + path);
    await fetch(`${url}/nowhere/${Math.random()}`, { method: 'DELETE' });
    // The service uses a connection itself when it folds row counts.
    let metrics = await scrape(url);
    while (metrics.get('database_pool_connections{state="in_use"}')! > 0) metrics = await scrape(url);
    const labels = (method: string, route: string, status: number) =>
      `{method="${method}",route="${route}",status="${status}"}`;
    const count = (...request: Parameters<typeof labels>) =>
      metrics.get(`http_request_duration_seconds_count${labels(...request)}`);
    expect([count('POST', list, 201), count('GET', list, 200), count('DELETE', 'none', 404)]).toEqual([1, 1, 1]);
    const got = labels('GET', list, 200);
    expect(metrics.get(`http_request_duration_seconds_bucket${got.replace('{', '{le="10",')}`)).toBe(1);
    expect(metrics.get(`http_request_duration_seconds_sum${got}`)).toBeGreaterThan(0);
    expect(metrics.get('database_pool_connections{state="idle"}')).toBeGreaterThanOrEqual(1);
    expect(metrics.get('database_pool_connections{state="waiting"}')).toBe(0);
    expect(metrics.get('process_resident_memory_bytes')).toBeGreaterThan(10_000_000);
    expect(metrics.get('nodejs_eventloop_lag_p99_seconds')).toBeGreaterThanOrEqual(0);
    const build = `service="notes",version="1.2.3",revision="abc",node_version="${process.version}"`;
    expect(metrics.get(`service_build_info{${build}}`)).toBe(1);
    const response = await fetch(`${url}/metrics`, { headers: { accept: 'text/html' } });
    expect(response.headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/);
    const totals = (await response.text()).matchAll(/^# TYPE \S+_total (\w+)$/gm);
    expect(new Set([...totals].map(([, type]) => type))).toEqual(new Set(['counter']));
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
    expect(await getJson(`${url}/readyz`)).toEqual([503, { message: 'draining' }]);
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
  expect([code, errors]).toEqual([1, 'Unknown command "serve". Use "migrate", "recount" or "health".\n']);
});
