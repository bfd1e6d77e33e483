import { expect, test } from '@jest/globals';
import { sendJson, served, startShared } from '@rest-services/testing';
import { sql } from 'kysely';
import { notesMain } from './notes/bundled.ts';
import { untilBlocked } from './until-blocked.ts';

const { url, start, db } = await startShared(notesMain());

/** Creates the note of a number. @returns all of the response that a repeated request gets again */
async function post(to: string, number: number, key?: string, options: RequestInit = {}) {
  const send = () =>
    fetch(`${to}/notes`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...(key === undefined ? {} : { 'idempotency-key': key }) },
      body: JSON.stringify({ title: `Note ${number}` }),
      ...options,
    });
  const response = await served(send);
  const { status, headers } = response;
  return { status, location: headers.get('location'), body: await response.text() };
}

/** @returns the response to a POST, which has created a note */
async function created(...request: Parameters<typeof post>) {
  const response = await post(...request);
  expect(response).toMatchObject({ status: 201 });
  return response;
}

const reused = { status: 422, location: null, body: '{"message":"Idempotency-Key was used for another request"}' };

const count = async (table: string) => {
  const { rows } = await sql<{ count: number }>`select count(*) from ${sql.table(table)}`.execute(db);
  return rows[0]!.count;
};
const counts = async () => ({ rows: await count('note'), keys: await count('idempotency_key') });
const age = (interval: string) =>
  sql`update idempotency_key set created_at = created_at - ${interval}::interval`.execute(db);

test('the same key gets the first response again, also after a change and a deletion; with another body 422', async () => {
  const first = await created(url, 1, 'key-1');
  expect(await post(url, 1, 'key-1')).toEqual(first);
  expect(await post(url, 2, 'key-1')).toEqual(reused);
  expect(await counts()).toEqual({ rows: 1, keys: 1 });
  await created(url, 2, 'key-2');
  expect(await counts()).toEqual({ rows: 2, keys: 2 });
  expect((await sendJson(url, 'PUT', '/notes/1', { title: 'Done' })).status).toBe(200);
  expect(await post(url, 1, 'key-1')).toEqual(first);
  expect((await sendJson(url, 'DELETE', '/notes/1')).status).toBe(200);
  expect(await post(url, 1, 'key-1')).toEqual(first);
  expect(await counts()).toEqual({ rows: 1, keys: 2 });
});

test('concurrent requests with one key at two processes create one record, of the first body', async () => {
  const urls = [url, await start().listening()];
  const requests: Promise<[number: number, Awaited<ReturnType<typeof post>>]>[] = [];
  const isOver = new Error('rolled back');
  const holding = db.transaction().execute(async (transaction) => {
    // A statement of each process waits for this key, with all of its requests, and they continue at the same moment.
    await sql`insert into idempotency_key (key, request, row_id) values (sha256('key'), '', 0)`.execute(transaction);
    for (const number of [1, 1, 2, 3])
      for (const each of urls)
        requests.push(post(each, number, number < 3 ? 'key' : undefined).then((got) => [number, got]));
    await untilBlocked(db, urls.length);
    throw isOver;
  });
  await expect(holding).rejects.toBe(isOver);
  const responses = await Promise.all(requests);
  const [winner, first] = responses.find(([, { status }]) => status === 201)!;
  for (const [number, response] of responses) {
    if (number === 3) expect(response).toMatchObject({ status: 201 });
    else expect(response).toEqual(number === winner ? first : reused);
  }
  expect(await counts()).toEqual({ rows: 3, keys: 1 });
});

test('a request whose response was lost gets it when it is sent again, to another process too', async () => {
  const losing = start();
  const losingUrl = await losing.listening();
  const abort = new AbortController();
  let lost: Promise<unknown> | undefined;
  await db.transaction().execute(async (locking) => {
    await sql`lock table idempotency_key in share mode`.execute(locking);
    lost = post(losingUrl, 1, 'key', { signal: abort.signal }).catch(() => undefined);
    await untilBlocked(db);
    losing.child.kill('SIGSTOP');
  });
  // Until it is committed.
  while ((await count('idempotency_key')) === 0);
  abort.abort();
  await lost;
  const again = await created(url, 1, 'key');
  losing.child.kill('SIGCONT');
  expect(await post(losingUrl, 1, 'key')).toEqual(again);
  expect(await post(losingUrl, 2, 'key')).toEqual(reused);
  expect(await counts()).toEqual({ rows: 1, keys: 1 });
});

test('a key counts for 24 hours', async () => {
  const first = await created(url, 1, 'key');
  await age('23 hours 50 minutes');
  expect(await post(url, 1, 'key')).toEqual(first);
  await age('10 minutes');
  await created(url, 2, 'key');
  expect(await post(url, 1, 'key')).toEqual(reused);
  expect(await counts()).toEqual({ rows: 2, keys: 1 });
});

test('a request that fails with 400 or 503 leaves no key', async () => {
  expect(await post(url, 1, 'key', { body: '{}' })).toMatchObject({ status: 400 });
  expect(await counts()).toEqual({ rows: 0, keys: 0 });

  await db.transaction().execute(async (locking) => {
    await sql`lock table note in exclusive mode`.execute(locking);
    const refused = await sendJson(url, 'POST', '/notes', { title: 'Note 1' }, { 'idempotency-key': 'key' });
    expect([refused.status, refused.headers.has('retry-after')]).toEqual([503, true]);
  });
  expect(await counts()).toEqual({ rows: 0, keys: 0 });
  await created(url, 2, 'key');
});

test('a key of other than 1 to 255 visible ASCII characters: 400', async () => {
  const body = '{"message":"Idempotency-Key must be 1 to 255 visible ASCII characters"}';
  for (const key of ['a b', 'é', 'a, a', 'a'.repeat(256)])
    expect([key, await post(url, 1, key)]).toEqual([key, { status: 400, location: null, body }]);
  expect(await counts()).toEqual({ rows: 0, keys: 0 });
  for (const [index, key] of ['!', `"~';--\\`, 'a'.repeat(255)].entries()) {
    const first = await created(url, index + 1, key);
    expect(await post(url, index + 1, key)).toEqual(first);
  }
});

test('without the header, or with an empty one, each request creates a record and none leaves a key', async () => {
  await created(url, 1);
  await created(url, 1, '');
  expect(await counts()).toEqual({ rows: 2, keys: 0 });
});
