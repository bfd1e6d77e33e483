import { expect, test } from '@jest/globals';
import { KnownItems, runClient } from '../src/clients/clients.ts';
import { Random } from '../src/clients/random.ts';
import type { HttpRequest, HttpResponse } from '../src/clients/send.ts';
import { History, isUnknown } from '../src/history.ts';

const LOST = 12;

test.each([
  [20, 'as many outcomes as it should', 20],
  [1, 'as many outcomes as it misses', LOST],
])('With a minimum of %d, a client goes on until it knows %s', async (minKnown, _, expected) => {
  const history = new History();
  let sent = 0;
  async function send({ method, requestId }: HttpRequest): Promise<HttpResponse> {
    if ((sent += 1) <= LOST) throw new Error('Connection lost');
    const response = method === 'POST' ? { status: 201, body: { id: sent } } : { status: 404, body: {} };
    return Promise.resolve({ requestId, ...response });
  }
  const parts = { random: new Random(1), urls: ['http://service'], known: new KnownItems(), history, send };
  await runClient({ name: 'client', ...parts, seconds: 0, minKnown });
  expect(history.operations.filter((each) => !isUnknown(each)).length).toBeGreaterThanOrEqual(expected);
});
