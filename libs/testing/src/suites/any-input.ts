import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { Write } from '../http/load.ts';
import { sendJson } from '../http/send-json.ts';
import type { SharedProcess } from '../service/processes.ts';

/** Declares the tests that whatever is sent gets a response below 500 with a message where it is refused. */
export function testAnyInput(shared: SharedProcess, list: string, writes: Write[]) {
  const json = fc.jsonValue({ depthSize: 'medium', stringUnit: 'binary' });
  const text = fc.oneof(fc.string({ unit: 'binary', minLength: 1 }), fc.bigInt().map(String), fc.double().map(String));

  async function expectResponse(...[method, path, body, headers]: [string, string, unknown?, Record<string, string>?]) {
    const response = await sendJson(shared.url, method, path, body, headers);
    expect(response.status).toBeLessThan(500);
    if (response.status >= 400) expect(response.body).toEqual({ message: expect.any(String) });
  }

  test.each(writes.filter(({ body }) => body))('any body gets a response: $method', async ({ method, path, body }) => {
    const properties = Object.entries(body!).map(([name, value]) => [name, fc.oneof(json, text, fc.constant(value))]);
    const like = fc.record(Object.fromEntries(properties) as Record<string, fc.Arbitrary<unknown>>);
    const forms = { 'content-type': 'application/x-www-form-urlencoded' };
    await fc.assert(
      fc.asyncProperty(json, like, text, async (value, fields, any) => {
        for (const sent of [value, fields]) await expectResponse(method, path, JSON.stringify(sent));
        const form = new URLSearchParams(
          Object.entries(fields).map(([name, each]): [string, string] => [name, JSON.stringify(each)]),
        );
        for (const sent of [any, `${form.toString()}${any}`]) await expectResponse(method, path, sent, forms);
        await expectResponse(method, path, any);
      }),
    );
  });

  test('any path and any query get a response', async () => {
    await fc.assert(
      fc.asyncProperty(text, text, fc.constantFrom('GET', 'PUT', 'DELETE'), async (segment, value, method) => {
        fc.pre(segment.isWellFormed() && value.isWellFormed() && !['.', '..'].includes(segment));
        await expectResponse(method, `${list}/${encodeURIComponent(segment)}`);
        for (const name of ['page', 'limit', 'title'])
          await expectResponse('GET', `${list}?${name}=${encodeURIComponent(value)}`);
        await expectResponse('GET', `${list}?page=${value.replaceAll(/[^!-~]/g, '%')}`);
      }),
    );
  });
}
