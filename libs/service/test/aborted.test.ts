import { once } from 'node:events';
import { get, request, type ClientRequest, type IncomingMessage } from 'node:http';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { startService, type LogLine, type TestService } from '@rest-services/testing';
import { openSocket, scrape } from './http.ts';
import { notesMain } from './notes/bundled.ts';
import { openList } from './open-list.ts';
import { sql, type Kysely } from 'kysely';

// Requests whose connection closes before the response is complete are in the log and the metrics.

let service: TestService;
beforeEach(async () => {
  service = await startService(notesMain());
});
afterEach(() => service.stop());

const countOf = async (labels: string) =>
  (await scrape(service.url)).get(`http_request_duration_seconds_count{${labels}}`);
const isPost = ({ msg, method }: LogLine) => msg === 'request' && method === 'POST';
const isAborted = ({ msg, aborted }: LogLine) => msg === 'request' && aborted === true;

test('an aborted request is one line in the log and one in the metrics', async () => {
  await service.db.transaction().execute(async (locking) => {
    await sql`lock table note`.execute(locking);
    // On a busy machine, the statement may have ended before the client leaves.
    do {
      const before = service.log.filter(isPost).length;
      (await waiting(locking, newNote)).destroy();
      await service.logged(() => service.log.filter(isPost).length > before);
    } while (!service.log.some(isAborted));
  });
  // The metrics do not count it again when its statement has finished.
  await (await fetch(`${service.url}/notes/1`)).text();
  expect(await countOf('method="POST",route="/notes",status="aborted"')).toBe(1);
  expect(await countOf('method="POST",route="/notes",status="201"')).toBeUndefined();
  expect(service.log.filter(isAborted)).toEqual([expect.objectContaining({ method: 'POST', url: '/notes' })]);

  function newNote() {
    const post = request(`${service.url}/notes`, { method: 'POST', headers: { 'content-type': 'application/json' } });
    return post.end('{"title":"a"}');
  }
});

test('an aborted probe is in the metrics, and not in the log', async () => {
  await service.db.transaction().execute(async (locking) => {
    await sql`lock table kysely_migration`.execute(locking);
    (await waiting(locking, () => get(`${service.url}/readyz`))).destroy();
    while ((await countOf('method="GET",route="/readyz",status="aborted"')) !== 1);
  });
  expect(service.log.filter(isAborted)).toEqual([]);
});

test('a client that resets the connection before the response causes no error', async () => {
  const socket = openSocket(service.url);
  socket.write(nowhere);
  await once(socket, 'data');
  service.child.kill('SIGSTOP');
  socket.write(nowhere);
  socket.resetAndDestroy();
  await once(socket, 'close');
  service.child.kill('SIGCONT');
  await (await fetch(`${service.url}/livez`)).text();
  service.child.kill('SIGTERM');
  expect(await service.ended).toEqual({ code: 0, errors: '' });
  expect(service.log.filter(({ url }) => url === '/nowhere')).toHaveLength(2);
  expect(service.log.filter(({ level }) => Number(level) > 30)).toEqual([]);
});

test('clients that leave in the middle of a body abort only their own requests', async () => {
  const unfinished = ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS'].flatMap((method) =>
    ['content-length: 5000', 'content-length: 5000000', 'transfer-encoding: chunked'].flatMap((length) =>
      ['/notes', '/notes/1', '/readyz', '/docs', '/nowhere'].map(
        (path) =>
          `${method} ${path} HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\n${length}\r\n\r\n5\r\nabcde\r\n`,
      ),
    ),
  );
  for (const leave of ['end', 'resetAndDestroy'] as const) {
    // Each client has left before the service reads its request.
    service.child.kill('SIGSTOP');
    const callers = unfinished.map((request) => {
      const socket = openSocket(service.url).resume();
      socket.on('error', () => undefined).write(request, () => socket[leave]());
      return new Promise((resolve) => socket.on('close', resolve));
    });
    if (leave === 'resetAndDestroy') await Promise.all(callers);
    service.child.kill('SIGCONT');
    await Promise.all(callers);
  }
  expect((await fetch(`${service.url}/livez`)).status).toBe(200);
  service.child.kill('SIGTERM');
  expect(await service.ended).toEqual({ code: 0, errors: '' });
  expect(service.log.filter(({ level }) => Number(level) >= 40)).toEqual([]);
});

const nowhere = 'GET /nowhere HTTP/1.1\r\nhost: notes\r\n\r\n';

test('a list whose reader leaves before its first chunk is aborted, without an error', async () => {
  await sql`insert into note (title) select 'x' from generate_series(1, 1000)`.execute(service.db);
  await service.db.transaction().execute(async (locking) => {
    await sql`lock table note`.execute(locking);
    const list = await waiting(locking, () => get(`${service.url}/notes?limit=1000`));
    list.destroy();
    await service.logged(isAborted);
  });
  const running = sql`select from pg_stat_activity where datname = current_database() and state = 'active'
    and pid <> pg_backend_pid()`;
  while ((await running.execute(service.db)).rows.length > 0);
  for (let turn = 0; turn < 3; turn += 1) await (await fetch(`${service.url}/notes/1`)).text();
  expect(service.log.filter(({ level }) => Number(level) >= 40)).toEqual([]);
});

/** Starts a request. @returns it when it waits for a lock */
async function waiting(connection: Kysely<unknown>, start: () => ClientRequest): Promise<ClientRequest> {
  const started = start();
  const answers: IncomingMessage[] = [];
  started.on('error', () => undefined).on('response', (answer) => answers.push(answer));
  for (;;) {
    const { rows } = await sql`select from pg_locks
      where not granted and database = (select oid from pg_database where datname = current_database())`.execute(
      connection,
    );
    if (rows.length > 0) return started;
    expect(answers).toEqual([]);
  }
}

test('lists that the reader or the database aborts are in the log and the metrics', async () => {
  await sql`insert into note (title) select repeat('x', 150) from generate_series(1, 50000)`.execute(service.db);
  const openNotes = async () => (await openList(`${service.url}/notes?limit=50000`)).on('error', () => undefined);

  const left = await openNotes();
  await once(left, 'readable');
  left.destroy();
  await service.logged(({ aborted }) => aborted === true);

  const broken = await openNotes();
  await once(broken, 'readable');
  await sql`alter table note rename to gone`.execute(service.db);
  broken.resume();
  await expect(once(broken, 'end')).rejects.toThrow('aborted');
  await (await fetch(`${service.url}/livez`)).text();
  expect(await countOf('method="GET",route="/notes",status="aborted"')).toBe(2);
  const aborted = service.log.filter((line) => line.aborted);
  expect(aborted).toMatchObject([{ method: 'GET' }, { method: 'GET' }]);
  const linesOf = ({ reqId }: LogLine) => service.log.filter((line) => line.reqId === reqId);
  expect(linesOf(aborted[0]!)).toEqual([aborted[0]]);
  const cause: unknown = expect.objectContaining({ code: '42P01' });
  expect(linesOf(aborted[1]!)).toEqual([expect.objectContaining({ level: 40, err: cause }), aborted[1]]);
});
