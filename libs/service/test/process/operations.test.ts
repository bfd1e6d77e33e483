import { networkInterfaces } from 'node:os';
import { expect, test } from '@jest/globals';
import { freePort } from '@rest-services/local-postgres';
import { send, sendJson, startShared } from '@rest-services/testing';
import { sql } from 'kysely';
import { exchange, getJson, scrape } from '../http.ts';
import { notesMain } from '../notes/bundled.ts';
import { untilBlocked } from '../until-blocked.ts';

// What operators rely on in every service.

const { url, start, database, db } = await startShared(notesMain());

test('a password in DATABASE_URL is neither in the log nor on stderr', async () => {
  // Percent-encoded in the setting, and decoded on its way to the server.
  const refused = Object.assign(new URL(database.url), { password: 'pa55word%24' }).href;
  const unreachable = Object.assign(new URL(refused), { port: `${await freePort()}` }).href;
  for (const [environment, ...args] of [
    [{ DATABASE_URL: refused }],
    [{ DATABASE_URL: unreachable }],
    [{ DATABASE_MIGRATION_URL: unreachable }, 'migrate'],
  ] as [NodeJS.ProcessEnv, ...string[]][]) {
    const service = start({ ...environment, LOG_LEVEL: 'trace' }, ...args);
    await service.logged(/^(cannot migrate the database|database is not up yet)$/);
    service.child.kill('SIGTERM');
    expect(JSON.stringify([await service.ended, service.log])).not.toContain('pa55word');
  }
});

test('/docs is a page that loads everything it needs from the service, to which / leads', async () => {
  const page = await fetch(`${url}/docs`, { headers: { accept: 'text/html' } });
  expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
  const files = [...(await page.text()).matchAll(/(?:src|href)="([^"]+)"/g)].map((match) => match[1]!);
  expect(files.length).toBeGreaterThan(3);
  for (const file of files) {
    const { status } = await fetch(new URL(file, url));
    expect([file, status]).toEqual([expect.stringMatching(/^\/docs\//), 200]);
  }
  const links = '<./docs>; rel="service-doc", <./openapi.json>; rel="service-desc"';
  for (const [accept, more] of Object.entries({ '*/*': {}, 'text/html': { docs: './docs' } })) {
    const root = await fetch(url, { headers: { accept } });
    const body = { message: 'Not found', ...more };
    expect([root.status, root.headers.get('link'), await root.json()]).toEqual([404, links, body]);
  }
});

test('the Location of a 201 is relative, so that it is the URL of the new record behind any proxy', async () => {
  const forwarded = { 'x-forwarded-host': 'a.example', 'x-forwarded-proto': 'https', 'x-forwarded-prefix': '/prefix' };
  const trusting = await start({ TRUST_PROXY: 'loopback' }).listening();
  for (const path of ['/notes', '/notes/', '/notes?a=/b', '/notes/?a=/b']) {
    const { status, headers, body } = await sendJson(trusting, 'POST', path, { title: 'a' }, forwarded);
    const location = new URL(headers.get('location')!, `https://a.example/prefix${path}`);
    const { id } = body as { id: number };
    expect([path, status, location.href]).toEqual([path, 201, `https://a.example/prefix/notes/${id}`]);
    expect(headers.get('location')).not.toMatch(/^(https?:|\/)/);
  }
});

test('a number in a path that JavaScript does not hold exactly is a missing record', async () => {
  const id = Number.MAX_SAFE_INTEGER;
  await sql`insert into note (id, title) overriding system value values (${id}, 'largest')`.execute(db);
  for (const [method, body] of [['GET'], ['PUT', { title: 'new' }], ['DELETE']] as const)
    expect([method, (await sendJson(url, method, `/notes/${id + 1}`, body)).status]).toEqual([method, 404]);
  expect(await getJson(`${url}/notes/${id}`)).toEqual([200, { id, title: 'largest' }]);
});

test('/metrics counts requests, shows pool and process, and has version and revision', async () => {
  const counting = await start({ SERVICE_REVISION: 'abc' }).listening();
  await sendJson(counting, 'POST', '/notes', { title: 'a' });
  for (const path of ['/notes', '/docs']) await fetch(counting + path);
  await fetch(`${counting}/nowhere/${Math.random()}`, { method: 'DELETE' });
  // The service uses a connection itself when it folds row counts.
  let metrics = await scrape(counting);
  while (metrics.get('database_pool_connections{state="in_use"}')! > 0) metrics = await scrape(counting);
  const duration = (part: string, labels: string) => metrics.get(`http_request_duration_seconds_${part}{${labels}}`);
  const got = 'method="GET",route="/notes",status="200"';
  const requests = ['method="POST",route="/notes",status="201"', got, 'method="DELETE",route="none",status="404"'];
  expect(requests.map((labels) => duration('count', labels))).toEqual([1, 1, 1]);
  expect(duration('bucket', `le="10",${got}`)).toBe(1);
  expect(duration('sum', got)).toBeGreaterThan(0);
  expect(metrics.get('database_pool_connections{state="idle"}')).toBeGreaterThanOrEqual(1);
  expect(metrics.get('database_pool_connections{state="waiting"}')).toBe(0);
  expect(metrics.get('process_resident_memory_bytes')).toBeGreaterThan(10_000_000);
  expect(metrics.get('nodejs_eventloop_lag_p99_seconds')).toBeGreaterThanOrEqual(0);
  const build = `service="notes",version="1.2.3",revision="abc",node_version="${process.version}"`;
  expect(metrics.get(`service_build_info{${build}}`)).toBe(1);
  const response = await fetch(`${counting}/metrics`, { headers: { accept: 'text/html' } });
  expect(response.headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/);
  const totals = (await response.text()).matchAll(/^# TYPE \S+_total (\w+)$/gm);
  expect(new Set([...totals].map(([, type]) => type))).toEqual(new Set(['counter']));
});

test.each<[string, NodeJS.ProcessEnv, string[], RegExp]>([
  ['a wrong PORT', { PORT: 'http' }, [], /^PORT must be [^\n]+; it is "http"\n$/],
  ['an unknown address in HOST', { HOST: '203.0.113.1' }, [], /^[^\n]*203\.0\.113\.1[^\n]*\n$/],
  ['a taken port', { PORT: new URL(url).port }, [], /^Port \d+ is taken on 127\.0\.0\.1: [^\n]*\n$/],
  ['an unknown command', {}, ['serve'], /^Unknown command "serve". Use "migrate", "recount" or "health".\n$/],
])('%s: exit code 1 and one line that names it', async (_, environment, args, line) => {
  const { code, errors } = await start(environment, ...args).ended;
  expect([code, errors]).toEqual([1, expect.stringMatching(line)]);
});

const hasIpv6 = Object.values(networkInterfaces()).some((all) => all!.some(({ family }) => family === 'IPv6'));

test('HOST by default: the service listens on all addresses of IPv4, and of IPv6 where there are any', async () => {
  const service = start({ HOST: '' });
  const { port } = new URL(await service.listening());
  for (const address of ['127.0.0.1', ...(hasIpv6 ? ['[::1]'] : [])]) {
    const { status } = await fetch(`http://${address}:${port}/notes/1?from=${address}`);
    expect([address, status]).toEqual([address, 404]);
    const { ip } = await service.logged(({ url }) => String(url).endsWith(address));
    expect(ip).toBe(address.replaceAll(/[[\]]/g, ''));
  }
});

test('KEEP_ALIVE_TIMEOUT_MS: an idle connection is closed after it, and told of a second less', async () => {
  const keeping = await start({ KEEP_ALIVE_TIMEOUT_MS: '2000' }).listening();
  const startedAt = performance.now();
  expect(await exchange(keeping, 'GET /livez HTTP/1.1\r\nhost: a\r\n\r\n')).toMatch(/^keep-alive: timeout=1\r$/im);
  expect(performance.now() - startedAt).toBeGreaterThan(1_900);
});

test('DATABASE_POOL_MAX: /readyz responds 200 while all connections wait for locks', async () => {
  const waiting = await start({ DATABASE_POOL_MAX: '1' }).listening();
  await sql`insert into note (title) values ('a')`.execute(db);
  const readyWhileBlocked = async () => {
    const { first, change } = await db.transaction().execute(async (locking) => {
      await sql`select from note where id = 1 for update`.execute(locking);
      const change = send(waiting, { method: 'PUT', path: '/notes/1', body: { title: 'b' } });
      await untilBlocked(db);
      return { first: await Promise.race([change, send(waiting, '/readyz')]), change };
    });
    return first.status === 200 && (await change).status === 200;
  };
  // On a busy machine, the change may reach its time limit first.
  for (let attempt = 1; !(await readyWhileBlocked()); attempt += 1) expect(attempt).toBeLessThan(10);
});
