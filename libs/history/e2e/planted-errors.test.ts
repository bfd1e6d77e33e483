import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { createTestDatabase } from '@rest-services/local-postgres';
import { startProcess } from '@rest-services/testing';
import type { CheckName, Violation } from '../src/checks/checks.ts';
import type { Row } from '../src/history.ts';
import { Random } from '../src/clients/random.ts';
import { runSeed } from '../src/run-seed.ts';
import type { HttpRequest, HttpResponse, Send } from '../src/clients/send.ts';

const MAIN = join(import.meta.dirname, '..', '..', '..', 'apps', 'items', 'dist', 'main.js');
const SEEDS = 10;

/** Number of requests of each client. */
const REQUESTS = 100;

/** Probability that a request meets the error, if it can. */
const PROBABILITY = 0.05;

/** Responds as a service with the error would; `undefined` where it responds as it should. */
type PlantedError = (request: HttpRequest, send: Send) => Promise<HttpResponse | undefined> | HttpResponse | undefined;

/** Runs a seed on a new service. */
async function run(seed: number, error?: PlantedError) {
  const database = await createTestDatabase();
  const service = startProcess(MAIN, { DATABASE_URL: database.url });
  const random = new Random(seed);
  try {
    return await runSeed({
      seed,
      seconds: 0,
      requests: REQUESTS,
      urls: [await service.listening()],
      databaseUrl: () => database.url,
      wrap: (send) => async (request) =>
        (error && random.chance(PROBABILITY) && (await error(request, send))) || send(request),
    });
  } finally {
    service.child.kill('SIGKILL');
    await service.ended;
    await database.drop();
  }
}

/** @returns the violation of a check that the first of ten seeds finds */
async function find(check: CheckName, error: PlantedError): Promise<Violation | undefined> {
  for (let seed = 1; seed <= SEEDS; seed += 1) {
    const { violations } = await run(seed, error);
    const violation = violations.find((each) => each.check === check);
    if (violation) return violation;
  }
  return undefined;
}

const isItem = (path: string) => /^\/v1\/items\/\d+$/.test(path);

/** Offset, limit and rows of a list with its neighbours, for a request of a page after the first one. */
async function pageOf({ path, ...request }: HttpRequest, send: Send) {
  const [, page, limit] = (/page=(\d+)&limit=(\d+)/.exec(path) ?? []).map(Number);
  if (!page || !limit || page === 1) return undefined;
  const response = await send({ ...request, path: '/v1/items?page=1&limit=100000' });
  return { response, offset: (page - 1) * limit, limit, rows: response.body as Row[] };
}

describe('A service without errors', () => {
  test('has no violations', async () => {
    expect(await run(1)).toMatchObject({ violations: [], unknown: 0 });
    expect(await run(2)).toMatchObject({ violations: [], unknown: 0 });
  });
});

describe('A check finds within ten seeds', () => {
  test('a write that is acknowledged and not done', async () => {
    const violation = await find('items are linearizable', ({ method, requestId }) =>
      method === 'PUT'
        ? { status: 200, requestId, total: undefined, body: { message: 'Item updated successfully' } }
        : undefined,
    );
    expect(violation!.lines.length).toBeLessThan(5);
    expect(violation!.lines.join('\n')).toContain('PUT');
  });

  test('a read of an older state', async () => {
    const older = new Map<string, HttpResponse>();
    const violation = await find('items are linearizable', async (request, send) => {
      if (request.method !== 'GET' || !isItem(request.path)) return undefined;
      const response = await send(request);
      const stale = older.get(request.path) ?? response;
      older.set(request.path, stale);
      return { ...stale, requestId: response.requestId };
    });
    expect(violation!.lines.length).toBeLessThan(5);
  });

  test('an id that is lower than the one before', async () => {
    const violation = await find('ids increase', async (request, send) => {
      if (request.method !== 'POST') return undefined;
      const response = await send(request);
      return { ...response, body: { id: (response.body as { id: number }).id - 50 } };
    });
    expect(violation!.lines).toHaveLength(2);
  });

  test('a total that is not the number of rows', async () => {
    await expect(
      find('pages are whole and in order', async (request, send) => {
        const response = await send(request);
        return response.total === undefined ? undefined : { ...response, total: response.total + 1 };
      }),
    ).resolves.toBeDefined();
  });

  test('a page that skips a row', async () => {
    const violation = await find('walks neither skip nor repeat', async (request, send) => {
      const page = await pageOf(request, send);
      return page && { ...page.response, body: page.rows.slice(page.offset + 1, page.offset + 1 + page.limit) };
    });
    expect(violation!.message).toMatch(/ 0 times$/);
  });

  test('a page that repeats a row', async () => {
    const violation = await find('walks neither skip nor repeat', async (request, send) => {
      const page = await pageOf(request, send);
      return page && { ...page.response, body: page.rows.slice(page.offset - 1, page.offset - 1 + page.limit) };
    });
    expect(violation!.message).toMatch(/ 2 times$/);
  });

  test('a response to another request', async () => {
    let last: HttpRequest | undefined;
    const violation = await find('responses belong to their requests', async (request, send) => {
      if (request.method !== 'GET' || !isItem(request.path)) return undefined;
      const other = last;
      last = request;
      return other && other.path !== request.path ? send({ ...other, requestId: request.requestId }) : undefined;
    });
    expect(violation!.message).toMatch(/^The response is not that of item/);
  });

  test('a create that is done twice', async () => {
    const violation = await find('a create makes one item', async (request, send) => {
      if (request.method !== 'POST') return undefined;
      await send(request);
      return send(request);
    });
    expect(violation!.lines.length).toBeLessThan(4);
  });

  test('a status that the contract does not have', async () => {
    await expect(
      find('responses are of the contract', (request) =>
        isItem(request.path)
          ? { status: 400, requestId: request.requestId, total: undefined, body: { message: 'Invalid id' } }
          : undefined,
      ),
    ).resolves.toBeDefined();
  });
});
