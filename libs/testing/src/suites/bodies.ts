import { describe, expect, test } from '@jest/globals';
import { refusals, type RefusingService } from '../http/refusals.ts';

/** A service with requests that take a body. */
export interface ServiceWithBodies extends RefusingService {
  writes: () => readonly (readonly [method: string, path: string])[];
}

/** Declares the tests of request bodies that every service refuses. */
export function testBodies(tested: ServiceWithBodies) {
  const { service, writes } = tested;
  const refused = refusals(tested);

  describe('A request body', () => {
    test('that is malformed JSON: 400', async () => {
      for (const [method, path] of writes()) expect((await refused(method, path, '{"a":')).status).toBe(400);
    });

    test('that is JSON and not an object: 400', async () => {
      for (const [method, path] of writes()) {
        expect(await refused(method, path, '[]')).toMatchObject({
          status: 400,
          body: { message: 'Body must be a JSON object' },
        });
      }
    });

    test('of the content type text/plain, or of none: 415', async () => {
      for (const [method, path] of writes()) {
        expect((await refused(method, path, '{"a":"b"}', { 'content-type': 'text/plain' })).status).toBe(415);
        const response = await fetch(service().url + path, { method, body: Buffer.from('{"a":"b"}') });
        expect([response.status, Object.keys((await response.json()) as object)]).toEqual([415, ['message']]);
      }
    });

    test('of 2 MB: 413', async () => {
      const body = JSON.stringify({ a: 'x'.repeat(2_000_000) });
      for (const [method, path] of writes()) expect((await refused(method, path, body)).status).toBe(413);
    });
  });
}
