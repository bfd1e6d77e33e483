import { beforeEach, describe, expect, test } from '@jest/globals';
import { sendJson, served, startShared } from '@rest-services/testing';
import { sql } from 'kysely';
import { notesMain } from './notes/bundled.ts';
import { untilBlocked } from './until-blocked.ts';

// Entity tags, If-None-Match and If-Match (RFC 9110, 13).

const shared = await startShared(notesMain());
const { url, db } = shared;

const ask = (method: string, path: string, headers: Record<string, string> = {}, title?: string, at = url) =>
  sendJson(at, method, path, title === undefined ? undefined : { title }, headers);
const tagOf = async (path: string) => (await ask('GET', path)).headers.get('etag')!;
const create = async () => (await ask('POST', '/notes', {}, 'Buy milk')).body as { id: number };
beforeEach(create);

/** Methods of changes, with the title that they give. */
const changes = [
  ['PUT', 'Another text'],
  ['DELETE', undefined],
] as const;

/** Number of changes at once, over two processes. */
const WRITERS = 12;

/** What compression makes of a strong tag: that of the service itself, Apache's, nginx's and HAProxy's, and one unheard of. */
const asProxied = (tag: string) => {
  const open = tag.slice(0, -1);
  return [`${open}.zstd"`, `${open}-gzip"`, `W/${tag}`, `W/${open}-gzip"`, `${open};other proxy"`];
};

describe('Entity tags', () => {
  test.each(['/notes', '/notes/all', '/notes/1'])('GET %s has a strong ETag, with which it gets 304', async (path) => {
    const { status, headers } = await ask('GET', path);
    const tag = headers.get('etag')!;
    expect([status, tag, headers.get('cache-control')]).toEqual([200, expect.stringMatching(/^"[^"]+"$/), 'no-cache']);
    for (const method of ['GET', 'HEAD']) {
      for (const given of [tag, ...asProxied(tag), `"other", ${tag}`, '*']) {
        const known = await ask(method, path, { 'if-none-match': given });
        expect([method, given, known.status, known.body]).toEqual([method, given, 304, undefined]);
        // A cache finds its response by the tag that it has.
        expect(known.headers.get('etag')).toBe(asProxied(tag).includes(given) ? given : tag);
        expect(known.headers.get('content-type')).toBeNull();
      }
    }
    for (const unknown of ['"other"', tag.slice(0, -2), ''])
      expect((await ask('GET', path, { 'if-none-match': unknown })).status).toBe(200);
    await ask('PUT', '/notes/1', {}, 'Another text');
    const changed = await ask('GET', path, { 'if-none-match': tag });
    expect([changed.status, changed.headers.get('etag') === tag]).toEqual([200, false]);
  });

  test('responses without an ETag may not be stored', async () => {
    const responses = [await ask('POST', '/notes', {}, 'Buy milk')];
    for (const path of ['/livez', '/nowhere', '/notes/9999']) responses.push(await ask('GET', path));
    for (const { headers } of responses)
      expect([headers.get('etag'), headers.get('cache-control')]).toEqual([null, 'no-store']);
  });

  test('a long list has a weak ETag that changes with each of its rows', async () => {
    await sql`insert into note (title) select 'Buy milk' from generate_series(1, 300)`.execute(db);
    const { headers, body } = await ask('GET', '/notes/all');
    const tag = headers.get('etag')!;
    expect([(body as object[]).length, tag]).toEqual([301, expect.stringMatching(/^W\/"[^"]+"$/)]);
    expect([headers.get('cache-control'), headers.get('vary')]).toEqual(['no-cache', 'accept-encoding']);
    expect((await ask('GET', '/notes/all', { 'if-none-match': tag })).status).toBe(304);
    await ask('PUT', '/notes/299', {}, 'Another text');
    expect((await ask('GET', '/notes/all', { 'if-none-match': tag })).status).toBe(200);
  });
});

describe.each(changes)('%s', (method, title) => {
  test('with If-None-Match of what matches responds 412 and changes nothing', async () => {
    const { body: before, headers } = await ask('GET', '/notes/1');
    const tag = headers.get('etag')!;
    for (const matching of ['*', tag, ...asProxied(tag), `"other", ${tag}`])
      for (const given of [{ 'if-none-match': matching }, { 'if-none-match': matching, 'if-match': tag }])
        expect([given, (await ask(method, '/notes/1', given, title)).status]).toEqual([given, 412]);
    const both = { 'if-none-match': '"other"', 'if-match': '"old"' };
    expect((await ask(method, '/notes/1', both, title)).status).toBe(412);
    expect((await ask(method, '/notes/9999', { 'if-none-match': '*' }, title)).status).toBe(404);
    expect((await ask('GET', '/notes/1')).body).toEqual(before);
    expect((await ask(method, '/notes/1', { ...both, 'if-match': tag }, title)).status).toBe(200);
  });

  test('with If-Match changes what has the tag, and gets 412 for what has another', async () => {
    const forms = (tag: string) => [tag, `"other", ${tag}`, ...asProxied(tag)];
    const old = await tagOf('/notes/1');
    await ask('PUT', '/notes/1', {}, 'Changed before');
    for (const tag of [...forms(old), '"other"', '']) {
      const { status, body } = await ask(method, '/notes/1', { 'if-match': tag }, title);
      expect([tag, status, body]).toEqual([tag, 412, { message: expect.any(String) }]);
    }
    expect((await ask('GET', '/notes/1')).body).toEqual({ id: 1, title: 'Changed before' });

    for (const index of ['*', ...forms(old)].keys()) {
      const { id } = await create();
      const tag = await tagOf(`/notes/${id}`);
      const given = { 'if-match': ['*', ...forms(tag)][index]! };
      expect([given, (await ask(method, `/notes/${id}`, given, title)).status]).toEqual([given, 200]);
      expect((await ask(method, '/notes/9999', given, title)).status).toBe(404);
      const { status, headers } = await ask('GET', `/notes/${id}`);
      expect([status, headers.get('etag') === tag]).toEqual([title === undefined ? 404 : 200, false]);
    }
  });
});

describe('If-Match', () => {
  test('a DELETE that has waited for another change with its tag responds 412', async () => {
    const given = { 'if-match': await tagOf('/notes/1') };
    const responses = await db.transaction().execute(async (locking) => {
      await sql`select from note where id = 1 for update`.execute(locking);
      const changed = ask('PUT', '/notes/1', given, 'Another text');
      await untilBlocked(db);
      const removed = ask('DELETE', '/notes/1', given);
      await untilBlocked(db, 2);
      return [changed, removed];
    });
    expect((await Promise.all(responses)).map(({ status }) => status)).toEqual([200, 412]);
    expect((await ask('GET', '/notes/1')).body).toEqual({ id: 1, title: 'Another text' });
  });

  test('of many writers at two processes, exactly one wins with a tag, and all with *', async () => {
    const urls = [url, await shared.start().listening()];
    const write = async (given: string, writer: number) => {
      const send = () => ask('PUT', '/notes/1', { 'if-match': given }, `Text ${writer}`, urls[writer % 2]);
      return (await served(send)).status;
    };
    const writeAll = (given: string) => Promise.all(Array.from({ length: WRITERS }, (_, n) => write(given, n)));
    for (let round = 0; round < 20; round += 1) {
      await ask('PUT', '/notes/1', {}, `Round ${round}`);
      const statuses = await writeAll(await tagOf('/notes/1'));
      expect(statuses.toSorted()).toEqual([200, ...Array<number>(WRITERS - 1).fill(412)]);
      const { body } = await ask('GET', '/notes/1');
      expect(body).toEqual({ id: 1, title: `Text ${statuses.indexOf(200)}` });
    }
    expect(new Set(await writeAll('*'))).toEqual(new Set([200]));
  });
});
