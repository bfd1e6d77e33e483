import { beforeAll, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { sendJson } from '../http/send-json.ts';
import { readDocument, type ValueSchema } from '../service/document.ts';
import { bodyOf, extremesOf, isPlainText, nonsenseOf } from './values.ts';

type Stored = Record<string, unknown> & { id: number };

/** Number of POSTs at once. */
const COUNT = 24;

/**
 * Declares the tests that a POST stores whatever its document allows, and refuses the rest in words. Values are derived from the
 * document, so that a column that is added is tested, too.
 * @param list path of the POST and of the list of records
 */
export function testColumnValues(service: { readonly url: string }, list: string) {
  describe('A POST with values that are derived from its document', () => {
    let properties: Record<string, ValueSchema>;
    let required: string[];
    beforeAll(async () => {
      const { requestBody } = (await readDocument(service.url)).paths[list]!['post']!;
      ({ properties = {}, required = [] } = requestBody!.content!['application/json']!.schema);
    });
    const post = (body: object, headers = {}) => sendJson(service.url, 'POST', list, body, headers);
    const isSuccess = ({ status }: { status: number }) => status === 200 || status === 201;

    test(`is one of ${COUNT} at once, with and without keys, and each gets its own row`, async () => {
      const bodies = Array.from({ length: COUNT }, (_, n) => {
        const names = Object.keys(properties).filter((name) => n % 3 > 0 || required.includes(name));
        return bodyOf(Object.fromEntries(names.map((name) => [name, properties[name]!])), n);
      });
      const keyOf = (n: number) => (n % 2 === 0 ? { 'idempotency-key': `column-values-${n}` } : {});
      const responses = await Promise.all(bodies.map((body, n) => post(body, keyOf(n))));
      expect(responses.filter((response) => !isSuccess(response))).toEqual([]);
      const rows = await readAll(service.url, list);
      for (const [n, body] of bodies.entries()) {
        const { id } = responses[n]!.body as { id?: number };
        const own = rows.filter((row) => (id === undefined ? isStored(body, row) : row.id === id));
        expect([body, own]).toEqual([body, [expect.objectContaining(asStored(body))]]);
      }
      const keyed = bodies.flatMap((body, n) => (n % 2 === 0 ? [post(body, keyOf(n))] : []));
      expect((await Promise.all(keyed)).map(({ body }) => body)).toEqual(
        responses.filter((_, n) => n % 2 === 0).map(({ body }) => body),
      );
      expect(await readAll(service.url, list)).toEqual(rows);
    });

    test('and any text in one of them: stored as it was sent unless it is blank', async () => {
      for (const [name, schema] of Object.entries(properties).filter(([, each]) => isPlainText(each))) {
        const { minLength = 1, maxLength = 1_000 } = schema;
        const text = fc.string({ unit: 'binary', minLength, maxLength });
        const storable = text.filter((each) => each.trim() !== '' && !each.includes('\0') && each.isWellFormed());
        const texts = new Set(fc.sample(storable, 100));
        const before = await readAll(service.url, list);
        const responses = await Promise.all(
          Array.from(texts, (each, n) => post({ ...bodyOf(properties, n), [name]: each })),
        );
        expect(responses.filter((response) => !isSuccess(response))).toEqual([]);
        const added = (await readAll(service.url, list)).slice(before.length);
        expect(new Set(added.map((row) => row[name]))).toEqual(texts);
      }
    });

    test('and nonsense in one of them: 400 with a message that names it', async () => {
      for (const [name, schema] of Object.entries(properties)) {
        for (const value of nonsenseOf(schema)) {
          const { status, body } = await post({ ...bodyOf(properties, COUNT), [name]: value });
          expect([name, value, status, body]).toEqual([name, value, 400, refusalOf(name)]);
        }
      }
    });

    test('and the least or most in one: success, or 400 with a message that names it', async () => {
      let n = COUNT;
      for (const [name, schema] of Object.entries(properties)) {
        for (const value of extremesOf(schema)) {
          n += 1;
          const response = await post({ ...bodyOf(properties, n), [name]: value });
          if (isSuccess(response)) continue;
          const shown = JSON.stringify(value).slice(0, 80);
          expect([name, shown, response.status, response.body]).toEqual([name, shown, 400, refusalOf(name)]);
        }
      }
    });
  });
}

/** Says of a column, as `Released year`, what it must be. */
const refusalOf = (name: string) => ({
  message: expect.stringMatching(
    new RegExp(`^${name.charAt(0).toUpperCase()}${name.slice(1).replaceAll('_', ' ')}( .+)? (must|cannot) `),
  ),
});

const isTimestamp = (value: unknown): value is string => typeof value === 'string' && /^\d{4}-\d\d-\d\dT/.test(value);

/** Timestamps are in UTC in a response. */
const asStored = (body: Record<string, unknown>) =>
  Object.fromEntries(
    Object.entries(body).map(([name, value]) => [name, isTimestamp(value) ? new Date(value).toISOString() : value]),
  );

const isStored = (body: Record<string, unknown>, row: Stored) =>
  Object.entries(asStored(body)).every(([name, value]) => row[name] === value);

/** Reads the pages of a list, which is an array or the `data` of an object, until one has nothing new. */
async function readAll(url: string, list: string): Promise<Stored[]> {
  const rows = new Map<number, Stored>();
  for (let page = 1, size = -1; rows.size > size; page += 1) {
    size = rows.size;
    const { body } = await sendJson(url, 'GET', `${list}?page=${page}`);
    for (const row of Array.isArray(body) ? (body as Stored[]) : (body as { data: Stored[] }).data)
      rows.set(row.id, row);
  }
  return [...rows.values()];
}
