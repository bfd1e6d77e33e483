import { afterAll, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { startService, useProxy, type Fault } from '@rest-services/testing';
import { fetchWithRetries, itemsClient, pages, retryFor, unwrap } from '../src/index.ts';

const service = await startService<{ item: object }>('../../apps/items/dist/main.js');
afterAll(() => service.stop());
const proxy = useProxy(() => service.url, '/v1/');
let items: ReturnType<typeof itemsClient>;
beforeAll(() => {
  items = itemsClient({ baseUrl: proxy.url, fetch: fetchWithRetries });
});

/** Makes the proxy take these faults for the next requests, and forget what it has seen. */
function plan(...faults: Fault[]) {
  proxy.fault = () => faults.shift();
  proxy.seen.length = 0;
}

const overload = { status: 503, body: '{"message":"The service is overloaded, try again in a moment"}' };
const busy = (after?: string): Fault => ({ answer: { ...overload, headers: after ? { 'retry-after': after } : {} } });
const badGateway = { answer: { status: 502, body: '<h1>Bad Gateway</h1>' } };
const lost: Fault = { lose: 'request' };

const create = (title = 'Buy milk') => unwrap(items.POST('/v1/items', { body: { title } }));
const change = (id: number) => items.PUT('/v1/items/{id}', { params: { path: { id } }, body: { status: 'Finished' } });
const remove = (id: number) => items.DELETE('/v1/items/{id}', { params: { path: { id } } });
const count = async () => (await unwrap(items.GET('/v1/items/summary'))).total;

describe('A 503', () => {
  test.each(['POST', 'PUT', 'DELETE', 'GET'] as const)('with Retry-After gets a retry of %s', async (method) => {
    const { id } = await create();
    plan(busy('0'), busy(new Date().toUTCString()));
    await { POST: create, PUT: () => unwrap(change(id)), DELETE: () => unwrap(remove(id)), GET: count }[method]();
    expect(proxy.seen.map((request) => request.method)).toEqual([method, method, method]);
  });

  test('reaches the caller after three retries', async () => {
    plan(busy('0'), busy('0'), busy('0'), busy('0'));
    const message = 'The service is overloaded, try again in a moment';
    await expect(count()).rejects.toMatchObject({ status: 503, message });
    expect(proxy.seen).toHaveLength(4);
  });

  test.each([undefined, '31', 'soon'])('with Retry-After %s gets no retry', async (retryAfter) => {
    plan(busy(retryAfter));
    await expect(count()).rejects.toMatchObject({ status: 503 });
    expect(proxy.seen).toHaveLength(1);
  });

  test('with Retry-After: 1 gets its retry after a second', async () => {
    plan(busy('1'));
    const start = performance.now();
    await count();
    expect(performance.now() - start).toBeGreaterThan(999);
  });
});

describe('A lost connection', () => {
  test.each(['request', 'response', 'half of the response'] as const)(
    'gets a retry of POST with the same key, which creates nothing twice: %s',
    async (lose) => {
      const before = await count();
      plan({ lose });
      await create();
      const [first, second] = proxy.seen;
      expect(first!.key).toMatch(/^[\da-f]{32}$/);
      expect(second!.key).toBe(first!.key);
      expect([proxy.count('POST'), await count()]).toEqual([2, before + 1]);
    },
  );

  test.each(['PUT', 'DELETE'] as const)('gets no retry of %s', async (method) => {
    const { id } = await create();
    plan({ lose: 'response' });
    await expect({ PUT: change, DELETE: remove }[method](id)).rejects.toThrow();
    expect(proxy.seen).toHaveLength(1);
  });

  test.each([create, count])('reaches the caller after three retries of POST and GET', async (send) => {
    plan(lost, { lose: 'response' }, lost, lost);
    await expect(send()).rejects.toThrow('fetch failed');
    expect(proxy.seen).toHaveLength(4);
  });
});

describe('retryFor', () => {
  const createFor = (ms: number) =>
    unwrap(items.POST('/v1/items', { body: { title: 'Buy rice' }, fetch: retryFor(ms) }));

  test('retries with the same key until its time is over, more than three times', async () => {
    plan(lost, ...Array.from({ length: 9 }, () => busy('0')));
    await createFor(60_000);
    expect(proxy.seen).toHaveLength(11);
    expect(new Set(proxy.seen.map(({ key }) => key)).size).toBe(1);
  });

  test('does not wait for a retry that would begin after its time', async () => {
    plan(busy('31'));
    await expect(createFor(30_000)).rejects.toMatchObject({ status: 503 });
    plan(lost);
    await expect(createFor(0)).rejects.toThrow('fetch failed');
    expect(proxy.seen).toHaveLength(1);
  });
});

test('Each POST has a key of its own, and keeps the one that it is given', async () => {
  await create();
  await create();
  const body = JSON.stringify({ title: 'Buy milk' });
  const headers = { 'content-type': 'application/json', 'idempotency-key': 'mine' };
  await fetchWithRetries(`${proxy.url}/v1/items`, { method: 'POST', body, headers });
  const keys = proxy.seen.map(({ key }) => key);
  expect([new Set(keys).size, keys[2]]).toEqual([3, 'mine']);
});

test('A signal ends the delay before a retry', async () => {
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
  expect(proxy.seen).toHaveLength(1);
});

describe('pages', () => {
  beforeEach(async () => {
    await service.db.deleteFrom('item').execute();
    for (const title of ['a', 'b', 'c', 'd', 'e']) await create(title);
    plan();
  });

  /** Iterates over pages of two items, with a header by which the proxy's record tells them. */
  const pagesOf = (query = {}) =>
    pages(items, '/v1/items', { headers: { 'idempotency-key': 'seen' }, params: { query: { limit: 2, ...query } } });

  test.each(['<?', '</v1/items?'])('follow the Link of each page, with the headers of the call: %s', async (start) => {
    proxy.fault = () => ({
      headers: ({ link, ...sent }) => ({ ...sent, ...(link && { link: String(link).replaceAll('<?', start) }) }),
    });
    const titles = [];
    for await (const page of pagesOf()) titles.push(page.map(({ title }) => title));
    expect(titles).toEqual([['a', 'b'], ['c', 'd'], ['e']]);
    expect(proxy.seen.map(({ path, key }) => [path, key])).toEqual([
      ['/v1/items?limit=2', 'seen'],
      ['/v1/items?page=2&limit=2', 'seen'],
      ['/v1/items?page=3&limit=2', 'seen'],
    ]);
  });

  test('begin with the page that the call names, and are loaded when they are taken', async () => {
    expect(await pagesOf({ page: 2 }).next()).toMatchObject({ value: [{ title: 'c' }, { title: 'd' }] });
    expect(proxy.seen).toHaveLength(1);
  });

  test('throw a ResponseError, without a body for that of a proxy, in the place of a page', async () => {
    const iterator = pagesOf();
    await iterator.next();
    plan(badGateway);
    const error = { name: 'ResponseError', status: 502, message: 'HTTP 502', body: undefined };
    await expect(iterator.next()).rejects.toMatchObject(error);
  });
});
