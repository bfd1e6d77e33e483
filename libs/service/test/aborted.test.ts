import { once } from 'node:events';
import { get, request, type ClientRequest } from 'node:http';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { startService, type LogLine, type TestService } from '@rest-services/testing';
import { sql } from 'kysely';
import { openSocket, scrape } from './http.ts';
import { notesMain } from './notes/bundled.ts';
import { openList } from './open-list.ts';
import { untilBlocked } from './until-blocked.ts';

// Requests whose connection closes before the response is complete are in the log and the metrics.

let service: TestService;
beforeEach(async () => {
  service = await startService(notesMain());
});
afterEach(() => service.stop());

const countOf = async (labels: string) =>
  (await scrape(service.url)).get(`http_request_duration_seconds_count{${labels}}`);
const isAborted = ({ aborted }: LogLine) => aborted === true;
/** Without those of background tasks, which may find no connection in time on a busy machine. */
const warnings = () => service.log.filter(({ level, task }) => Number(level) >= 40 && task === undefined);
const insertNotes = (count: number) =>
  sql`insert into note (title) select repeat('x', 150) from generate_series(1, ${sql.lit(count)})`.execute(service.db);

/** Locks a table, and aborts a request that waits for it until `isSeen`: on a busy machine, it may get its response first. */
const abortWaiting = (table: string, start: () => ClientRequest, isSeen: () => Promise<boolean>) =>
  service.db.transaction().execute(async (locking) => {
    await sql`lock table ${sql.table(table)}`.execute(locking);
    do {
      const waiting = start().on('error', () => undefined);
      await untilBlocked(service.db);
      waiting.destroy();
    } while (!(await isSeen()));
  });

test.each([
  ['POST', '/notes', '{"title":"a"}'],
  ['GET', '/notes?limit=1000', undefined],
])('an aborted %s is one line in the log and one in the metrics, and no error', async (method, path, body) => {
  await insertNotes(1_000);
  const headers = { 'content-type': 'application/json' };
  const requests = () => service.log.filter(({ msg }) => msg === 'request');
  let sent = 0;
  const start = () => request(service.url + path, { method, headers }).end(body);
  await abortWaiting('note', start, async () => {
    sent += 1;
    await service.logged(() => requests().length === sent);
    return requests().some(isAborted);
  });
  const running = sql`select from pg_stat_activity where datname = current_database() and state = 'active'
    and pid <> pg_backend_pid()`;
  while ((await running.execute(service.db)).rows.length > 0);
  // The metrics do not count it again when its statement has finished.
  for (let turn = 0; turn < 3; turn += 1) await (await fetch(`${service.url}/notes/1`)).text();
  expect(await countOf(`method="${method}",route="/notes",status="aborted"`)).toBe(1);
  for (const status of [200, 201])
    expect(await countOf(`method="${method}",route="/notes",status="${status}"`)).toBeUndefined();
  expect(service.log.filter(isAborted)).toMatchObject([{ method, url: path }]);
  expect(warnings()).toEqual([]);
});

test('an aborted probe is in the metrics, and not in the log', async () => {
  const isCounted = async () => (await countOf('method="GET",route="/readyz",status="aborted"')) !== undefined;
  await abortWaiting('kysely_migration', () => get(`${service.url}/readyz`), isCounted);
  expect(service.log.filter(isAborted)).toEqual([]);
});

test('clients that leave in the middle of a body or before the response abort only their own requests', async () => {
  const unfinished = ['GET', 'POST', 'DELETE', 'OPTIONS'].flatMap((method) =>
    ['content-length: 5000', 'content-length: 5000000', 'transfer-encoding: chunked'].flatMap((length) =>
      ['/notes', '/notes/1', '/readyz', '/docs', '/nowhere'].map(
        (path) =>
          `${method} ${path} HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\n${length}\r\n\r\n5\r\nabcde\r\n`,
      ),
    ),
  );
  const whole = 'GET /nowhere HTTP/1.1\r\nhost: a\r\n\r\n';
  for (const leave of ['end', 'resetAndDestroy'] as const) {
    // Each client has left before the service reads its request.
    service.child.kill('SIGSTOP');
    const callers = [...unfinished, whole].map((request) => {
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
  expect(warnings()).toEqual([]);
});

test('lists that the reader or the database aborts are in the log and the metrics', async () => {
  await insertNotes(50_000);
  const openNotes = async () => {
    const list = (await openList(`${service.url}/notes?limit=50000`)).on('error', () => undefined);
    await once(list, 'readable');
    return list;
  };
  (await openNotes()).destroy();
  await service.logged(isAborted);

  const broken = await openNotes();
  await sql`alter table note rename to gone`.execute(service.db);
  broken.resume();
  await expect(once(broken, 'end')).rejects.toThrow('aborted');
  await (await fetch(`${service.url}/livez`)).text();
  expect(await countOf('method="GET",route="/notes",status="aborted"')).toBe(2);
  const aborted = service.log.filter(isAborted);
  expect(aborted).toMatchObject([{ method: 'GET' }, { method: 'GET' }]);
  const linesOf = ({ reqId }: LogLine) => service.log.filter((line) => line.reqId === reqId);
  expect(linesOf(aborted[0]!)).toEqual([aborted[0]]);
  const cause: unknown = expect.objectContaining({ code: '42P01' });
  expect(linesOf(aborted[1]!)).toEqual([expect.objectContaining({ level: 40, err: cause }), aborted[1]]);
});
