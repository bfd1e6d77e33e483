import { expect, test } from '@jest/globals';
import type { LogLine } from '@rest-services/testing';
import { sql } from 'kysely';
import { notes, startListening } from './notes-process.ts';

const requestsOf = (log: LogLine[]) => log.filter(({ msg }) => msg === 'request');

test('the log has one JSON line per request, also for refused ones, without bodies and secrets', async () => {
  const { url, ...service } = await startListening();
  const post = (body: string, type = 'application/json') =>
    ({ method: 'POST', headers: { 'content-type': type }, body }) as const;
  const requests: [string, RequestInit?][] = [
    ['/notes', { headers: { 'x-request-id': '"quoted\\', authorization: 'Bearer s3cret', cookie: 'session=s3cret' } }],
    ['/notes', post('{"title":"s3cret"}')],
    ['/notes/9'],
    ['/nowhere'],
    ['/notes', post('{"title":')],
    ['/notes', post('a', 'text/plain')],
    ['/notes', post('a'.repeat(2 ** 21))],
  ];
  const answers: unknown[] = [];
  const startedAt = performance.now();
  for (const [path, init] of requests) {
    const { status, headers } = await fetch(url + path, init);
    answers.push({ url: path, status, reqId: headers.get('x-request-id') });
  }
  const tookMs = performance.now() - startedAt;
  expect(answers).toMatchObject([200, 201, 404, 404, 400, 415, 413].map((status) => ({ status })));
  service.child.kill('SIGTERM');
  await service.ended;
  for (const secret of ['s3cret', new URL(notes.database.url).password])
    expect(JSON.stringify(service.log)).not.toContain(secret);
  const lines = requestsOf(service.log);
  expect(lines.map(({ url, status, reqId }) => ({ url, status, reqId }))).toEqual(answers);
  const { pid, hostname } = service.log[0]!;
  const common = { level: 30, pid, hostname, time: expect.any(Number), ip: '127.0.0.1' };
  expect(lines).toMatchObject(lines.map(() => common));
  const together = lines.reduce((sum, { ms }) => sum + Number(ms), 0);
  expect(together).toBeGreaterThan(0);
  expect(together).toBeLessThan(tookMs);
});

test.each([
  ['in the detail', '"constraint":"refused"', sql`alter table note add constraint refused check (title <> 's3cret')`],
  [
    'in the context',
    'division by zero',
    sql`create function refused() returns trigger language plpgsql as $$ begin
        execute format('select 1 / 0 -- %s', new.title);
      end $$;
      create trigger refused before insert on note for each row execute function refused()`,
  ],
])('values that PostgreSQL quotes %s of an error are not in the log', async (_, logged, refuse) => {
  const { url, ...service } = await startListening();
  await refuse.execute(notes.db);
  const headers = { 'content-type': 'application/json' };
  const refused = await fetch(`${url}/notes`, { method: 'POST', headers, body: '{"title":"s3cret"}' });
  expect(refused.status).toBeGreaterThanOrEqual(400);
  const { reqId } = await service.logged(/^request$/);
  expect(await service.logged(/^request failed$/)).toMatchObject({ reqId, err: { type: 'DatabaseError' } });
  expect(JSON.stringify(service.log)).toContain(logged);
  expect(JSON.stringify(service.log)).not.toContain('s3cret');
});

test.each([
  ['info', ['/notes']],
  ['debug', ['/livez', '/notes']],
])('at LOG_LEVEL %s, the log has the requests of %j', async (LOG_LEVEL, logged) => {
  const { url, ...service } = await startListening({ LOG_LEVEL });
  for (const path of ['/livez', '/notes']) await (await fetch(url + path)).text();
  service.child.kill('SIGTERM');
  await service.ended;
  expect(requestsOf(service.log).map((line) => line.url)).toEqual(logged);
});

const [connection, client] = ['127.0.0.1', '203.0.113.7'];
const chain = `198.51.100.1, ${client}, 10.1.2.3`;

test.each<[string, string, Record<string, string>]>([
  ['the address of the connection', '', { [client]: connection }],
  ['the address of the connection', '10.0.0.0/8', { [client]: connection }],
  [
    'the first address before the proxies in X-Forwarded-For',
    'loopback, 10.0.0.0/8',
    { '': connection, [client]: client, [chain]: client, '2001:db8::1': '2001:db8::1', '"a\\': '"a\\' },
  ],
  ['the address that the only proxy has seen', '1', { '': connection, [client]: client, [chain]: '10.1.2.3' }],
  ['the address that the first of two has seen', '2', { '': connection, [client]: client, [chain]: client }],
])('the log has %s where TRUST_PROXY is "%s"', async (_, TRUST_PROXY, addresses) => {
  const { url, ...service } = await startListening({ TRUST_PROXY });
  for (const [number, [forwarded, address]] of Object.entries(addresses).entries()) {
    await fetch(`${url}/nowhere/${number}`, { headers: forwarded === '' ? {} : { 'x-forwarded-for': forwarded } });
    const { ip } = await service.logged((line) => line.url === `/nowhere/${number}`);
    expect([forwarded, ip]).toEqual([forwarded, address]);
  }
});
