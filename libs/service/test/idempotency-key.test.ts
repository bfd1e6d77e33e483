import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import {
  openResponseHolder,
  openTestConnection,
  send,
  sendJson,
  startShared,
  withRole,
  type Write,
} from '@rest-services/testing';
import fc from 'fast-check';
import { sql, type Kysely } from 'kysely';
import { notesMain } from './notes/bundled.ts';

const shared = await startShared(notesMain());

const table = 'note';
const list = '/notes';
/** All writes: the first creates a record that holds the number, the others change or delete the record of this id. */
const writes = (number: number): [Write, ...Write[]] => [
  { method: 'POST', path: list, body: { title: `Note ${number}` } },
  { method: 'PUT', path: `${list}/${number}`, body: { title: 'Done' } },
  { method: 'DELETE', path: `${list}/${number}` },
];

/** All of a response that a repeated request gets again. */
interface FirstResponse {
  status: number;
  location: string | null;
  body: string;
}

describe('Idempotency-Key', () => {
  const { start } = shared;
  let db: Kysely<unknown>;
  beforeEach(() => {
    db = openTestConnection(shared.database.url);
  });
  afterEach(() => db.destroy());

  /** Creates the record of a number. */
  async function post(url: string, number: number, key?: string, options: RequestInit = {}): Promise<FirstResponse> {
    const { path, body } = writes(number)[0];
    const response = await fetch(url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...(key === undefined ? {} : { 'idempotency-key': key }) },
      body: JSON.stringify(body),
      ...options,
    });
    return { status: response.status, location: response.headers.get('location'), body: await response.text() };
  }
  const isSuccess = ({ status }: FirstResponse) => status === 200 || status === 201;
  const reused = {
    status: 422,
    location: null,
    body: '{"message":"Idempotency-Key was used for another request"}',
  };
  const count = async (of: string) => {
    const { rows } = await sql<{ count: number }>`select count(*) from ${sql.table(of)}`.execute(db);
    return rows[0]!.count;
  };
  const counts = async () => ({ rows: await count(table), keys: await count('idempotency_key') });
  const countLockWaits = async () => {
    const { rows } = await sql<{ count: number }>`select count(*) from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'`.execute(db);
    return rows[0]!.count;
  };
  /** Waits until a POST with a key is committed. */
  const committed = async () => {
    while ((await count('idempotency_key')) === 0);
  };
  const age = (interval: string) =>
    sql`update idempotency_key set created_at = created_at - ${interval}::interval`.execute(db);

  /** Sends a POST with the key, whose response the service does not get from the database before `lose` has settled. */
  async function loseResponse(key: string, lose: (service: ReturnType<typeof start>) => unknown) {
    const holder = await openResponseHolder(shared.database.url);
    const service = start({ DATABASE_URL: holder.url });
    const url = await service.listening();
    // Opens all connections of the pool: a new one would need responses of the server.
    await Promise.all(Array.from({ length: 40 }, () => send(url, list)));
    holder.hold();
    const abort = new AbortController();
    const lost = post(url, 1, key, { signal: abort.signal }).catch(() => undefined);
    await committed();
    await lose(service);
    abort.abort();
    await lost;
    holder.release();
    return { url, close: holder.close };
  }

  test('the same key and body get the first response again, status and body', async () => {
    const { url } = shared;
    const first = await post(url, 1, 'key-1');
    expect(isSuccess(first)).toBe(true);
    expect(await post(url, 1, 'key-1')).toEqual(first);
    expect(await post(url, 1, 'key-1')).toEqual(first);
    expect(await counts()).toEqual({ rows: 1, keys: 1 });
    expect(isSuccess(await post(url, 2, 'key-2'))).toBe(true);
    expect(await counts()).toEqual({ rows: 2, keys: 2 });
  });

  test('the first response comes again after the record was changed and deleted', async () => {
    const { url } = shared;
    const first = await post(url, 1, 'key');
    for (const { method, path, body } of writes(1).slice(1)) {
      expect((await sendJson(url, method, path, body)).status).toBe(200);
      expect(await post(url, 1, 'key')).toEqual(first);
    }
    await sql`delete from ${sql.table(table)}`.execute(db);
    expect(await post(url, 1, 'key')).toEqual(first);
    expect(await counts()).toEqual({ rows: 0, keys: 1 });
  });

  test('the same key with another body: 422, and nothing is created', async () => {
    const { url } = shared;
    const first = await post(url, 1, 'key');
    expect(await post(url, 2, 'key')).toEqual(reused);
    expect(await counts()).toEqual({ rows: 1, keys: 1 });
    expect(await post(url, 1, 'key')).toEqual(first);
  });

  test('concurrent requests with one key at two processes create one record', async () => {
    const urls = [shared.url, await start().listening()] as const;
    const requests: Promise<FirstResponse>[] = [];
    const isOver = new Error('rolled back');
    const holding = db.transaction().execute(async (transaction) => {
      // A statement of each process waits for this key, with both of its requests, and they continue at the same moment.
      await sql`insert into idempotency_key (key, request, row_id) values (sha256('key'), '', 0)`.execute(transaction);
      requests.push(...[0, 1, 0, 1].map((process) => post(urls[process]!, 1, 'key')));
      while ((await countLockWaits()) < urls.length);
      throw isOver;
    });
    await expect(holding).rejects.toBe(isOver);
    const responses = await Promise.all(requests);
    expect(isSuccess(responses[0]!)).toBe(true);
    expect(new Set(responses.map((response) => JSON.stringify(response))).size).toBe(1);
    expect(await counts()).toEqual({ rows: 1, keys: 1 });
  });

  test('of concurrent requests with few keys, one request per key creates a record', async () => {
    const urls = [shared.url, await start().listening()] as const;
    let run = 0;
    const request = fc.record({ process: fc.nat({ max: 1 }), key: fc.nat({ max: 2 }), body: fc.nat({ max: 1 }) });
    await fc.assert(
      fc.asyncProperty(fc.array(request, { minLength: 2, maxLength: 24 }), async (requests) => {
        run += 1;
        const before = await counts();
        const responses = await Promise.all(
          requests.map(async ({ process, key, body }) => {
            const response = await post(urls[process]!, run * 10 + key * 2 + body, `key-${run}-${key}`);
            return { key, body, response };
          }),
        );
        const byKey = Map.groupBy(responses, ({ key }) => key);
        for (const ofKey of byKey.values()) {
          const created = ofKey.filter(({ response }) => isSuccess(response));
          const winner = created[0]!;
          // The body that came first has the key.
          for (const { body, response } of ofKey)
            expect(response).toEqual(body === winner.body ? winner.response : reused);
        }
        const after = await counts();
        const perKey = { rows: after.rows - before.rows, keys: after.keys - before.keys };
        expect(perKey).toEqual({ rows: byKey.size, keys: byKey.size });
      }),
      { numRuns: 20 },
    );
  });

  test('a request whose response was lost gets it when it is sent again', async () => {
    const { url, close } = await loseResponse('key', () => undefined);
    const again = await post(url, 1, 'key');
    expect(isSuccess(again)).toBe(true);
    expect(await post(shared.url, 1, 'key')).toEqual(again);
    expect(await counts()).toEqual({ rows: 1, keys: 1 });
    await close();
  });

  test('a request whose process was killed after the commit gets its response from a new one', async () => {
    const { close } = await loseResponse('key', async ({ child, ended }) => {
      child.kill('SIGKILL');
      await ended;
    });
    const { url } = shared;
    const again = await post(url, 1, 'key');
    expect(isSuccess(again)).toBe(true);
    expect(await post(url, 2, 'key')).toEqual(reused);
    expect(await counts()).toEqual({ rows: 1, keys: 1 });
    await close();
  });

  test('a key counts for 24 hours', async () => {
    const { url } = shared;
    const first = await post(url, 1, 'key');
    await age('23 hours 50 minutes');
    expect(await post(url, 1, 'key')).toEqual(first);
    await age('10 minutes');
    expect(isSuccess(await post(url, 2, 'key'))).toBe(true);
    expect(await post(url, 1, 'key')).toEqual(reused);
    expect(await counts()).toEqual({ rows: 2, keys: 1 });
  });

  test('an expired key counts once for concurrent requests at two processes', async () => {
    const urls = [shared.url, await start().listening()] as const;
    await post(urls[0], 1, 'key');
    await age('24 hours');
    const responses = await Promise.all(Array.from({ length: 20 }, (_, turn) => post(urls[turn % 2]!, 2, 'key')));
    expect(responses.filter((response) => !isSuccess(response))).toEqual([]);
    expect(await counts()).toEqual({ rows: 2, keys: 1 });
  });

  test('requests with keys delete expired keys', async () => {
    const { url } = shared;
    for (let number = 1; number <= 20; number += 1) await post(url, number, `old-${number}`);
    await age('24 hours');
    // One deletion takes some pages of the table, not always those of the old keys.
    for (let number = 21; (await counts()).keys >= number - 1; number += 64)
      await Promise.all(Array.from({ length: 64 }, (_, n) => post(url, number + n, `new-${number + n}`)));
  });

  test('a request that fails with 400 or 503 leaves no key', async () => {
    const { url } = shared;
    expect(await post(url, 1, 'key', { body: '{}' })).toMatchObject({ status: 400 });
    expect(await counts()).toEqual({ rows: 0, keys: 0 });

    await db.transaction().execute(async (locking) => {
      await sql`lock table ${sql.table(table)} in exclusive mode`.execute(locking);
      const headers = { 'content-type': 'application/json', 'idempotency-key': 'key' };
      const { path, body } = writes(1)[0];
      const response = await fetch(url + path, { method: 'POST', headers, body: JSON.stringify(body) });
      expect([response.status, response.headers.has('retry-after')]).toEqual([503, true]);
    });
    expect(await counts()).toEqual({ rows: 0, keys: 0 });
    expect(isSuccess(await post(url, 2, 'key'))).toBe(true);
  });

  test('a key of other than 1 to 255 visible ASCII characters: 400', async () => {
    const { url } = shared;
    for (const key of ['', 'a b', 'é', 'a, a', 'a'.repeat(256)]) {
      expect([key, await post(url, 1, key)]).toEqual([
        key,
        {
          status: 400,
          location: null,
          body: '{"message":"Idempotency-Key must be 1 to 255 visible ASCII characters"}',
        },
      ]);
    }
    expect(await counts()).toEqual({ rows: 0, keys: 0 });
    for (const [index, key] of ['!', `"~';--\\`, 'a'.repeat(255)].entries()) {
      const first = await post(url, index + 1, key);
      expect([key, isSuccess(first)]).toEqual([key, true]);
      expect(await post(url, index + 1, key)).toEqual(first);
    }
  });

  test('without the header, each request creates a record and none leaves a key', async () => {
    const { url } = shared;
    expect(isSuccess(await post(url, 1))).toBe(true);
    expect(isSuccess(await post(url, 2))).toBe(true);
    expect(await counts()).toEqual({ rows: 2, keys: 0 });
  });

  test('the right to change rows is enough for requests with keys', async () => {
    expect((await start({}, 'migrate').ended).code).toBe(0);
    await withRole(shared.database, async (granting, role, DATABASE_URL) => {
      await sql`grant select, insert, update, delete on all tables in schema public to ${role}`.execute(granting);
      const url = await start({ DATABASE_URL, MIGRATE_ON_START: 'false' }).listening();
      const first = await post(url, 1, 'key');
      expect(isSuccess(first)).toBe(true);
      expect(await post(url, 1, 'key')).toEqual(first);
    });
  });
});
