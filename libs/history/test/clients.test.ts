import { describe, expect, test } from '@jest/globals';
import { KnownItems, runClient } from '../src/clients/clients.ts';
import { Random } from '../src/clients/random.ts';
import type { HttpRequest, HttpResponse } from '../src/clients/send.ts';
import { History, isUnknown } from '../src/history.ts';

const LOST = 12;

/** Runs a client of a service that responds to no request before the 13th one. @returns the number of known outcomes */
async function run(minKnown: number, history = new History()) {
  let sent = 0;
  async function send({ method, requestId }: HttpRequest): Promise<HttpResponse> {
    if ((sent += 1) <= LOST) throw new Error('Connection lost');
    const response = method === 'POST' ? { status: 201, body: { id: sent } } : { status: 404, body: {} };
    return Promise.resolve({ requestId, ...response });
  }
  const parts = { random: new Random(1), urls: ['http://service'], known: new KnownItems(), history, send };
  await runClient({ name: 'client', ...parts, seconds: 0, minKnown });
  return history.operations.filter((operation) => !isUnknown(operation)).length;
}

describe('A client', () => {
  test('goes on until it knows as many outcomes as it should', async () => {
    expect(await run(20)).toBeGreaterThanOrEqual(20);
  });

  test('goes on until it knows as many outcomes as it misses', async () => {
    expect(await run(1)).toBeGreaterThanOrEqual(LOST);
  });

  test('fails when it knows too few outcomes a minute after the faults', async () => {
    const history = Object.assign(new History(), { now: () => 60_001 });
    await expect(run(1, history)).rejects.toThrow('client knows only 0 outcomes');
  });
});
