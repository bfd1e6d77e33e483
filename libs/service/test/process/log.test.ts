import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { expect, test } from '@jest/globals';
import { freePort } from '@rest-services/local-postgres';
import { type LogLine, openTestConnection } from '@rest-services/testing';
import { sql } from 'kysely';
import { exchange } from '../http.ts';
import { isNotSlow, notes } from './notes-process.ts';

const requestsOf = (log: LogLine[]) => log.filter(({ msg }) => msg === 'request');

test('the log has one JSON line per request, also for refused ones, without bodies and secrets', async () => {
  const service = notes.start({});
  const url = await service.listening();
  const post = (body: string, type = 'application/json') => ({
    method: 'POST',
    headers: { 'content-type': type },
    body,
  });
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
  const { level, pid, hostname } = service.log[0]!;
  const common = { level, pid, hostname, time: expect.any(Number), ip: '127.0.0.1' };
  expect(lines).toMatchObject(lines.map(() => common));
  const together = lines.reduce((sum, { ms }) => sum + Number(ms), 0);
  expect(together > 0 && together < tookMs).toBe(true);
});

test('the log has URL and request id as they were sent', async () => {
  const service = notes.start({});
  const { hostname, port } = new URL(await service.listening());
  const [url, reqId] = [String.raw`/notes?"a"=\n{},`, String.raw`"b"=\n{},`];
  const asked = get({ hostname, port, path: url, headers: { 'x-request-id': reqId }, agent: false });
  const [response] = (await once(asked, 'response')) as [IncomingMessage];
  expect(response.headers['x-request-id']).toBe(reqId);
  expect(await service.logged(/^request$/)).toMatchObject({ url, reqId, status: 200 });
});

test('the log has one line for data that is not HTTP', async () => {
  const service = notes.start({});
  expect(await exchange(await service.listening(), 'nonsense\r\n\r\n')).toMatch('HTTP/1.1 400 ');
  expect(await service.logged(/^request$/)).toMatchObject({
    status: 400,
    code: 'HPE_INVALID_METHOD',
    ip: '127.0.0.1',
  });
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
  const service = notes.start({});
  const url = await service.listening();
  const db = openTestConnection(notes.database.url);
  await refuse.execute(db);
  const headers = { 'content-type': 'application/json' };
  const refused = await fetch(`${url}/notes`, { method: 'POST', headers, body: '{"title":"s3cret"}' });
  expect(refused.status).toBeGreaterThanOrEqual(400);
  const { reqId } = await service.logged(/^request$/);
  expect(await service.logged(/^request failed$/)).toMatchObject({ reqId, err: { type: 'DatabaseError' } });
  expect(JSON.stringify(service.log)).toContain(logged);
  expect(JSON.stringify(service.log)).not.toContain('s3cret');
  await db.destroy();
});

test('LOG_LEVEL warn omits requests, debug adds those of probes', async () => {
  const job = notes.start({ LOG_LEVEL: 'warn' }, 'migrate');
  expect([await job.ended, job.log.filter(isNotSlow)]).toEqual([{ code: 0, errors: '' }, []]);

  const PORT = `${await freePort()}`;
  const quiet = notes.start({ LOG_LEVEL: 'warn', PORT });
  const answer = () => fetch(`http://127.0.0.1:${PORT}/notes`).catch(() => undefined);
  // The log does not say that the service listens.
  while (!(await answer()));
  quiet.child.kill('SIGTERM');
  expect([await quiet.ended, quiet.log.filter(isNotSlow)]).toEqual([{ code: 0, errors: '' }, []]);

  for (const [LOG_LEVEL, logged] of [
    ['info', ['/notes']],
    ['debug', ['/livez', '/notes']],
  ] as const) {
    const service = notes.start({ LOG_LEVEL });
    const url = await service.listening();
    for (const path of ['/livez', '/notes']) await (await fetch(url + path)).text();
    service.child.kill('SIGTERM');
    await service.ended;
    expect(requestsOf(service.log).map((line) => line.url)).toEqual(logged);
  }
});
