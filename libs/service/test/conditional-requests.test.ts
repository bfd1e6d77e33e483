import { describe, expect, test } from '@jest/globals';
import { openTestConnection, sendJson, startShared, type Write } from '@rest-services/testing';
import { sql } from 'kysely';
import { notesMain } from './notes/bundled.ts';
import { untilBlocked } from './until-blocked.ts';

// Entity tags, If-None-Match and If-Match (RFC 9110, 13).

const shared = await startShared(notesMain());

const list = '/notes';
const all = '/notes/all';
const record = { title: 'Buy milk' };
const one = (id: number) => `/notes/${id}`;
const changes = (id: number, title: string): [Write, Write] => [
  { method: 'PUT', path: one(id), body: { title } },
  { method: 'DELETE', path: one(id) },
];

/** Number of changes at once with one tag, over two processes. */
const WRITERS = 12;

const listening = async () => {
  const { url } = shared;
  const created = await sendJson(url, 'POST', list, record);
  expect(created.status).toBeLessThan(300);
  return url;
};
const read = (url: string, path: string, tag?: string, method = 'GET') =>
  sendJson(url, method, path, undefined, tag === undefined ? {} : { 'if-none-match': tag });
const tagOf = async (url: string, path: string) => (await read(url, path)).headers.get('etag')!;
const write = ({ method, path, body }: Write, url: string, tag: string) =>
  sendJson(url, method, path, body, { 'if-match': tag });
const methods = changes(1, '').map(({ method }, index) => [method, index] as const);

/** How many statements a request for the list of all records takes. */
async function statementsOf(url: string, method: string) {
  const count = async () => {
    const metrics = await (await fetch(`${url}/metrics`)).text();
    return Number(/^database_pool_wait_seconds_count (\d+)$/m.exec(metrics)![1]);
  };
  // The smallest of some, because the service folds row counts meanwhile.
  let least = Infinity;
  for (let turn = 0; turn < 10; turn += 1) {
    const before = await count();
    expect((await read(url, all, undefined, method)).status).toBe(200);
    least = Math.min(least, (await count()) - before);
  }
  return least;
}

/** What compression makes of a strong tag: that of the service itself, Apache's, nginx's and HAProxy's, and one unheard of. */
const asProxied = (tag: string) => {
  const open = tag.slice(0, -1);
  return [`${open}.zstd"`, `${open}-gzip"`, `W/${tag}`, `W/${open}-gzip"`, `${open};other proxy"`];
};

describe('Entity tags', () => {
  test.each([list, all, one(1)])('GET %s has a strong ETag, and If-None-Match gets 304', async (path) => {
    const url = await listening();
    const { headers, status } = await read(url, path);
    const tag = headers.get('etag')!;
    expect([status, tag, headers.get('cache-control')]).toEqual([200, expect.stringMatching(/^"[^"]+"$/), 'no-cache']);
    for (const method of ['GET', 'HEAD']) {
      for (const given of [tag, ...asProxied(tag), `"other", ${tag}`, '*']) {
        const response = await read(url, path, given, method);
        expect([method, given, response.status, response.body]).toEqual([method, given, 304, undefined]);
        // A cache finds its response by the tag that it has.
        expect(response.headers.get('etag')).toBe(asProxied(tag).includes(given) ? given : tag);
        expect(response.headers.get('content-type')).toBeNull();
      }
    }
    for (const unknown of ['"other"', tag.slice(0, -2), '']) expect((await read(url, path, unknown)).status).toBe(200);

    await sendJson(url, changes(1, 'x').at(0)!.method, changes(1, 'x')[0].path, changes(1, 'Another text')[0].body);
    const changed = await read(url, path, tag);
    expect([changed.status, changed.headers.get('etag') === tag]).toEqual([200, false]);
  });

  test('responses without an ETag may not be stored', async () => {
    const url = await listening();
    const paths = ['/livez', '/nowhere', one(9_999)];
    const responses = [await sendJson(url, 'POST', list, record)];
    for (const path of paths) responses.push(await read(url, path));
    for (const { headers } of responses)
      expect([headers.get('etag'), headers.get('cache-control')]).toEqual([null, 'no-store']);
  });

  test('a long list has a weak ETag that changes with each of its rows', async () => {
    const url = await listening();
    const db = openTestConnection(shared.database.url);
    await sql`insert into note (title) select ${record.title} from generate_series(1, 300)`.execute(db);
    await db.destroy();
    const { headers, body } = await read(url, all);
    const tag = headers.get('etag')!;
    expect([(body as unknown[]).length, tag, headers.get('cache-control')]).toEqual([
      301,
      expect.stringMatching(/^W\/"[^"]+"$/),
      'no-cache',
    ]);
    const unchanged = await read(url, all, tag);
    expect([unchanged.status, unchanged.body, unchanged.headers.get('etag')]).toEqual([304, undefined, tag]);
    expect((await read(url, all, tag, 'HEAD')).status).toBe(304);
    expect([await statementsOf(url, 'GET'), await statementsOf(url, 'HEAD')]).toEqual([2, 1]);

    const { method, path, body: change } = changes(299, 'Another text')[0];
    expect((await sendJson(url, method, path, change)).status).toBe(200);
    expect((await read(url, all, tag)).status).toBe(200);
  });
});

describe('If-None-Match', () => {
  test.each(methods)('%s of what matches responds 412 and changes nothing', async (_method, index) => {
    const url = await listening();
    const { body: before, headers } = await read(url, one(1));
    const tag = headers.get('etag')!;
    const change = (headers: Record<string, string>, id = 1) => {
      const { method, path, body } = changes(id, 'Another text')[index]!;
      return sendJson(url, method, path, body, headers);
    };
    for (const matching of ['*', tag, ...asProxied(tag), `"other", ${tag}`])
      for (const headers of [{ 'if-none-match': matching }, { 'if-none-match': matching, 'if-match': tag }])
        expect([headers, (await change(headers)).status]).toEqual([headers, 412]);
    expect((await change({ 'if-none-match': '"other"', 'if-match': '"old"' })).status).toBe(412);
    expect((await change({ 'if-none-match': '*' }, 9_999)).status).toBe(404);
    expect((await read(url, one(1))).body).toEqual(before);
    expect((await change({ 'if-none-match': '"other"', 'if-match': tag })).status).toBe(200);
  });
});

describe('If-Match', () => {
  test.each(methods)('%s with an old tag responds 412 and changes nothing', async (_method, index) => {
    const url = await listening();
    const path = one(1);
    const old = await tagOf(url, path);
    const change = changes(1, 'Another text')[0];
    await sendJson(url, change.method, change.path, change.body);
    const { body: before } = await read(url, path);
    for (const tag of [old, ...asProxied(old), '"other"', '']) {
      const refused = await write(changes(1, 'Lost text')[index]!, url, tag);
      expect([tag, refused.status, refused.body]).toEqual([tag, 412, { message: expect.any(String) }]);
    }
    expect((await read(url, path)).body).toEqual(before);
  });

  test.each([
    ['*', () => '*'],
    ['a list that has the current tag', (tag: string) => `"other", ${tag}`],
    ['the current tag', (tag: string) => tag],
    ...asProxied('TAG"').map((shown, index) => [shown, (tag: string) => asProxied(tag)[index]!] as const),
  ])('with %s changes the record', async (_, given) => {
    for (const [, index] of methods) {
      const url = await listening();
      const { id } = (await sendJson(url, 'POST', list, record)).body as { id: number };
      const tag = await tagOf(url, one(id));
      expect((await write(changes(id, 'Another text')[index]!, url, given(tag))).status).toBe(200);
      expect((await write(changes(9_999, 'Another text')[index]!, url, given(tag))).status).toBe(404);
      const { status, headers } = await read(url, one(id));
      expect([status === 200, headers.get('etag') === tag]).toEqual([index === 0, false]);
    }
  });

  test('of many writers with *, none is refused', async () => {
    const url = await listening();
    const change = async (n: number): Promise<number> => {
      const { status } = await write(changes(1, `Text ${n}`)[0], url, '*');
      // A busy machine needs longer than the service waits.
      return status === 503 ? change(n) : status;
    };
    const statuses = await Promise.all(Array.from({ length: 40 }, (_, n) => change(n)));
    expect(new Set(statuses)).toEqual(new Set([200]));
  });

  test('a DELETE that has waited for another change with its tag responds 412', async () => {
    const url = await listening();
    const tag = await tagOf(url, one(1));
    const [change, removal] = changes(1, 'Another text');
    const db = openTestConnection(shared.database.url);
    const responses = await db.transaction().execute(async (locking) => {
      await sql`select from note where id = 1 for update`.execute(locking);
      const changed = write(change, url, tag);
      await untilBlocked(db);
      const removed = write(removal, url, tag);
      await untilBlocked(db, 2);
      return [changed, removed];
    });
    await db.destroy();
    expect((await Promise.all(responses)).map(({ status }) => status)).toEqual([200, 412]);
    expect((await read(url, one(1))).body).toEqual({ id: 1, title: 'Another text' });
  });

  test('of many writers with one tag, at two processes, exactly one wins', async () => {
    const url = await listening();
    const urls = [url, await shared.start().listening()];
    for (let round = 0; round < 20; round += 1) {
      const tag = await tagOf(url, one(1));
      const texts = Array.from({ length: WRITERS }, (_, writer) => `Text ${round} of writer ${writer}`);
      const statuses = await Promise.all(
        texts.map(async (text, writer) => (await write(changes(1, text)[0], urls[writer % 2]!, tag)).status),
      );
      expect(statuses.toSorted()).toEqual([200, ...Array.from({ length: WRITERS - 1 }, () => 412)]);
      expect(JSON.stringify((await read(url, one(1))).body)).toContain(`"${texts[statuses.indexOf(200)]}"`);
    }
  });
});
