import { afterAll, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { startService, type TestService } from '@rest-services/testing';
import { fetchWithRetries, itemsClient, pages, ResponseError, retryFor, unwrap } from '../src/index.ts';
import { startProxy, type Fault } from './proxy.ts';

const busy = (retryAfter?: string): Fault => ({ retryAfter });

let service: TestService<{ item: object }>;
let proxy: Awaited<ReturnType<typeof startProxy>>;
let items: ReturnType<typeof itemsClient>;
beforeAll(async () => {
  service = await startService('../../apps/items/dist/main.js');
  proxy = await startProxy(service.url);
  items = itemsClient({ baseUrl: proxy.url, fetch: fetchWithRetries });
});
afterAll(async () => {
  proxy.stop();
  await service.stop();
});

/** Makes the proxy take these faults for the next requests, and forget what it has received. */
function plan(...faults: Fault[]) {
  proxy.faults.splice(0, Infinity, ...faults);
  proxy.received.length = 0;
}

const create = (title: string) => unwrap(items.POST('/v1/items', { body: { title } }));
const change = (id: number) => items.PUT('/v1/items/{id}', { params: { path: { id } }, body: { status: 'Finished' } });
const remove = (id: number) => items.DELETE('/v1/items/{id}', { params: { path: { id } } });
const count = async () => (await unwrap(items.GET('/v1/items/summary'))).total;

describe('A 503', () => {
  test.each(['POST', 'PUT', 'DELETE', 'GET'])('with Retry-After gets a retry of %s', async (method) => {
    plan();
    const { id } = await create('Buy milk');
    plan(busy('0'), busy(new Date().toUTCString()));
    const calls = {
      POST: () => create('Buy bread'),
      PUT: () => unwrap(change(id)),
      DELETE: () => unwrap(remove(id)),
      GET: count,
    };
    await calls[method as keyof typeof calls]();
    expect(proxy.received.map((request) => request.method)).toEqual([method, method, method]);
  });

  test('reaches the caller after three retries', async () => {
    plan(busy('0'), busy('0'), busy('0'), busy('0'));
    await expect(count()).rejects.toMatchObject({
      status: 503,
      message: 'The service is overloaded, try again in a moment',
    });
    expect(proxy.received).toHaveLength(4);
  });

  test.each([undefined, '31', 'soon'])('with Retry-After %s gets no retry', async (retryAfter) => {
    plan(busy(retryAfter));
    await expect(count()).rejects.toMatchObject({ status: 503 });
    expect(proxy.received).toHaveLength(1);
  });

  test('with Retry-After: 1 gets its retry after a second', async () => {
    plan(busy('1'));
    const start = performance.now();
    await count();
    expect(performance.now() - start).toBeGreaterThan(999);
  });

  test('whose body cannot be cancelled gets its retry, and leaves no rejection unhandled', async () => {
    const body = new ReadableStream({ cancel: () => Promise.reject(new Error('The connection has closed')) });
    const lost = new Response(body, { status: 503, headers: { 'retry-after': '0' } });
    const spy = jest.spyOn(globalThis, 'fetch').mockResolvedValueOnce(lost);
    plan();
    await count();
    spy.mockRestore();
    // Jest fails a test that leaves one.
    expect(proxy.received).toHaveLength(1);
  });

  test('gets no retry without fetchWithRetries', async () => {
    plan(busy('0'));
    const { response } = await itemsClient({ baseUrl: proxy.url }).GET('/v1/items');
    expect(response.status).toBe(503);
  });
});

describe('A lost connection', () => {
  test.each(['lose the request', 'lose the response', 'lose half of the response'] as const)(
    'gets a retry of POST with the same key, which creates nothing twice: %s',
    async (fault) => {
      const before = await count();
      plan(fault);
      const { id } = await create('Buy salt');
      const [first, second] = proxy.received;
      expect(proxy.received).toHaveLength(2);
      expect(first!.key).toMatch(/^[\da-f]{32}$/);
      expect(second).toEqual(first);
      const item = await unwrap(items.GET('/v1/items/{id}', { params: { path: { id } } }));
      expect([item.title, await count()]).toEqual(['Buy salt', before + 1]);
    },
  );

  test('gets a retry of GET', async () => {
    plan('lose the request', 'lose the response');
    expect(await count()).toBeGreaterThan(0);
    expect(proxy.received).toHaveLength(3);
  });

  test.each(['PUT', 'DELETE'] as const)('gets no retry of %s', async (method) => {
    plan();
    const { id } = await create('Buy milk');
    plan('lose the response');
    await expect({ PUT: change, DELETE: remove }[method](id)).rejects.toThrow();
    expect(proxy.received).toHaveLength(1);
  });

  test('reaches the caller after three retries', async () => {
    plan('lose the request', 'lose the request', 'lose the request', 'lose the request');
    await expect(create('Buy tea')).rejects.toThrow('fetch failed');
    expect(proxy.received).toHaveLength(4);
  });
});

describe('retryFor', () => {
  const countFor = (ms: number) => unwrap(items.GET('/v1/items/summary', { fetch: retryFor(ms) }));

  test('retries until its time is over, more than three times', async () => {
    plan(...Array.from({ length: 10 }, () => busy('0')));
    expect((await countFor(60_000)).total).toBeGreaterThanOrEqual(0);
    expect(proxy.received).toHaveLength(11);
  });

  test('retries what is lost, with the same key', async () => {
    plan('lose the request', busy('0'), busy('0'), busy('0'));
    const { id } = await unwrap(items.POST('/v1/items', { body: { title: 'Buy rice' }, fetch: retryFor(60_000) }));
    expect(proxy.received).toHaveLength(5);
    expect(new Set(proxy.received.map(({ key }) => key)).size).toBe(1);
    expect(id).toBeGreaterThan(0);
  });

  test('does not wait for a retry that would begin after its time', async () => {
    plan(busy('31'), busy('0'));
    await expect(countFor(30_000)).rejects.toMatchObject({ status: 503 });
    expect(proxy.received).toHaveLength(1);
    plan('lose the request', 'lose the request');
    await expect(countFor(0)).rejects.toThrow('fetch failed');
    expect(proxy.received).toHaveLength(1);
  });
});

describe('A 304', () => {
  test('resolves with the body that the call knows, else throws a ResponseError', async () => {
    plan();
    const { id } = await create('Buy milk');
    const get = (tag?: string) => {
      const header = tag === undefined ? {} : { 'if-none-match': tag };
      return items.GET('/v1/items/{id}', { params: { path: { id }, header } });
    };
    const call = get();
    const known = await unwrap(call);
    const tag = (await call).response.headers.get('etag')!;
    expect(await unwrap(get(tag), known)).toBe(known);
    await expect(unwrap(get(tag))).rejects.toMatchObject({ status: 304 });
    await unwrap(change(id));
    expect(await unwrap(get(tag), known)).toMatchObject({ id, status: 'Finished' });
  });
});

test('Each POST has a key of its own, and keeps the one that it is given', async () => {
  plan();
  await create('Buy milk');
  await create('Buy milk');
  const body = JSON.stringify({ title: 'Buy milk' });
  const headers = { 'content-type': 'application/json', 'idempotency-key': 'mine' };
  await fetchWithRetries(`${proxy.url}/v1/items`, { method: 'POST', body, headers });
  const keys = proxy.received.map(({ key }) => key);
  expect([new Set(keys).size, keys[2]]).toEqual([3, 'mine']);
});

describe('A signal', () => {
  test('ends the delay before a retry', async () => {
    plan(busy('30'));
    const controller = new AbortController();
    const reason = new Error('No longer wanted');
    const send = fetch;
    const spy = jest.spyOn(globalThis, 'fetch').mockImplementation(async (...args) => {
      const response = await send(...args);
      // By then, the delay has begun.
      setImmediate(() => controller.abort(reason));
      return response;
    });
    const start = performance.now();
    await expect(items.GET('/v1/items', { signal: controller.signal })).rejects.toBe(reason);
    expect(performance.now() - start).toBeLessThan(29_000);
    spy.mockRestore();
    expect(proxy.received).toHaveLength(1);
  });

  test('that is aborted sends nothing', async () => {
    plan();
    const signal = AbortSignal.abort();
    await expect(items.POST('/v1/items', { body: { title: 'Buy milk' }, signal })).rejects.toBe(signal.reason);
    expect(proxy.received).toEqual([]);
  });
});

describe('A ResponseError', () => {
  test('has status, message and body of the response', async () => {
    plan();
    const error = await create(' ').catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ResponseError);
    const message = 'Title cannot be empty';
    expect(error).toMatchObject({ name: 'ResponseError', status: 400, message, body: { message } });
  });

  test('has no body when the response is that of a proxy', async () => {
    plan('respond as a proxy');
    const error = await unwrap(items.GET('/v1/items')).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ status: 502, message: 'HTTP 502', body: undefined });
  });
});

describe('pages', () => {
  const titles = ['a', 'b', 'c', 'd', 'e'];
  beforeEach(async () => {
    plan();
    proxy.hasAbsolutePaths = false;
    await service.db.deleteFrom('item').execute();
    for (const title of titles) await create(title);
  });

  /** Titles of each page of two items. */
  async function titlesOfPages(query = {}) {
    plan();
    const found = [];
    for await (const page of pages(items, '/v1/items', { params: { query: { limit: 2, ...query } } })) {
      found.push(page.map(({ title }) => title));
    }
    return found;
  }

  test.each([
    ['relative reference', false],
    ['absolute path', true],
  ])('follows the Link of each page to the last: %s', async (_, isAbsolute) => {
    proxy.hasAbsolutePaths = isAbsolute;
    expect(await titlesOfPages()).toEqual([['a', 'b'], ['c', 'd'], ['e']]);
    const urls = proxy.received.map(({ url }) => url);
    expect(urls).toEqual(['/v1/items?limit=2', '/v1/items?page=2&limit=2', '/v1/items?page=3&limit=2']);
  });

  test('begins with the page that the call names', async () => {
    expect(await titlesOfPages({ page: 2 })).toEqual([['c', 'd'], ['e']]);
  });

  test('sends the headers of the call for each page', async () => {
    plan();
    const options = { headers: { 'idempotency-key': 'seen' }, params: { query: { limit: 4 } } };
    for await (const page of pages(items, '/v1/items', options)) expect(page.length).toBeGreaterThan(0);
    expect(proxy.received.map(({ key }) => key)).toEqual(['seen', 'seen']);
  });

  test('throws a ResponseError in the place of a page', async () => {
    plan();
    const iterator = pages(items, '/v1/items', { params: { query: { limit: 2 } } });
    await iterator.next();
    plan('respond as a proxy');
    await expect(iterator.next()).rejects.toMatchObject({ status: 502 });
  });

  test('loads no page before it is taken', async () => {
    plan();
    for await (const page of pages(items, '/v1/items', { params: { query: { limit: 1 } } })) {
      expect(page).toHaveLength(1);
      break;
    }
    expect(proxy.received).toHaveLength(1);
  });
});
