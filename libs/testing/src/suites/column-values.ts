import { beforeAll, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { sendJson } from '../http/send-json.ts';
import { readDocument, type ValueSchema } from '../service/document.ts';

type Fields = Record<string, unknown>;

/** Number of POSTs at once. */
const COUNT = 24;

/** Values of each type, at the ends of what a column may hold, and beyond. */
const VALUES: unknown[] = [
  ...['No such value', 'a\0', '\ud800', true, false, 12.5, [], {}],
  ...['0001-01-01', '9999-12-31', '0000-01-01', '2026-02-29', '2026-00-10'].flatMap((day) => [day, `${day}T00:00:00Z`]),
  ...['T24:00:00Z', 'T18:30:60Z', 'T18:30:00+02:00', 'T18:30:00+23:59'].map((time) => `2026-11-20${time}`),
  ...['9999-12-31T23:59:59-01:00', 'infinity', 'today'],
  ...['ffffffff-ffff-ffff-ffff-ffffffffffff', '{8e03978e-40d5-43e8-bc93-6894a57f9324}'],
  ...[Number.MAX_SAFE_INTEGER, -Number.MAX_SAFE_INTEGER, Number.MAX_VALUE, -Number.MAX_VALUE],
];

/**
 * Declares the tests that a POST stores whatever its document allows, and refuses the rest in words. Values are derived from the
 * document, so that a column that is added is tested, too.
 * @param list path of the POST and of the list of records
 */
export function testColumnValues(service: { readonly url: string }, list: string) {
  describe('A POST with values that are derived from its document', () => {
    let properties: Record<string, ValueSchema>;
    let required: string[];
    let example: Fields;
    beforeAll(async () => {
      const { requestBody } = (await readDocument(service.url)).paths[list]!['post']!;
      const schema = requestBody!.content!['application/json']!.schema;
      ({ properties = {}, required = [] } = schema);
      example = schema.examples![0]!;
    });
    const post = (body: object, headers = {}) => sendJson(service.url, 'POST', list, body, headers);
    const isSuccess = ({ status }: { status: number }) => status === 200 || status === 201;
    const plainTexts = () =>
      Object.entries(properties).filter(([, { type, ...rest }]) => [type].flat()[0] === 'string' && isPlain(rest));

    /** Body number `n`: the example, with other texts. */
    const bodyOf = (n: number): Fields => ({
      ...example,
      ...Object.fromEntries(plainTexts().map(([name, { maxLength = 99 }]) => [name, `Text ${n}`.slice(-maxLength)])),
    });
    const stored = (body: Fields) =>
      Object.fromEntries(Object.entries(body).map(([name, value]) => [name, asStored(properties[name]!, value)]));

    test(`is one of ${COUNT} at once, with and without keys, and each gets its own row`, async () => {
      const bodies = Array.from({ length: COUNT }, (_, n) =>
        Object.fromEntries(Object.entries(bodyOf(n)).filter(([name]) => n % 3 > 0 || required.includes(name))),
      );
      const postAll = (each: typeof bodies, step: number) =>
        Promise.all(
          each.map((body, n) => post(body, (n * step) % 2 === 0 ? { 'idempotency-key': `key-${n * step}` } : {})),
        );
      const responses = await postAll(bodies, 1);
      expect(responses.filter((response) => !isSuccess(response))).toEqual([]);
      const rows = await readAll(service.url, list);
      for (const [n, body] of bodies.entries()) {
        const { id } = responses[n]!.body as { id?: number };
        const isOwn = (row: Fields) => Object.entries(stored(body)).every(([name, value]) => row[name] === value);
        const own = rows.filter((row) => (id === undefined ? isOwn(row) : row.id === id));
        expect([body, own]).toEqual([body, [expect.objectContaining(stored(body))]]);
      }
      const isKeyed = (_: unknown, n: number) => n % 2 === 0;
      const again = await postAll(bodies.filter(isKeyed), 2);
      expect(again.map(({ body }) => body)).toEqual(responses.filter(isKeyed).map(({ body }) => body));
      expect(await readAll(service.url, list)).toEqual(rows);
    });

    test('and any text in one of them: stored as it was sent unless it is blank', async () => {
      for (const [name, { minLength = 1, maxLength = 1_000 }] of plainTexts()) {
        const text = fc.string({ unit: 'binary', minLength, maxLength });
        const storable = text.filter((each) => each.trim() !== '' && !each.includes('\0') && each.isWellFormed());
        // The longest counts in code points.
        const texts = new Set([...fc.sample(storable, 100), '𝄞'.repeat(maxLength)]);
        const before = await readAll(service.url, list);
        const responses = await Promise.all(Array.from(texts, (each, n) => post({ ...bodyOf(n), [name]: each })));
        expect(responses.filter((response) => !isSuccess(response))).toEqual([]);
        const added = (await readAll(service.url, list)).slice(before.length);
        expect(new Set(added.map((row) => row[name]))).toEqual(texts);
      }
    });

    test('and any value in one: stored as it was sent, or 400 with a message that names it', async () => {
      const before = await readAll(service.url, list);
      const accepted: [string, unknown][] = [];
      let n = COUNT;
      for (const [name, schema] of Object.entries(properties)) {
        for (const value of [...VALUES, ...endsOf(schema)]) {
          const response = await post({ ...bodyOf((n += 1)), [name]: value });
          const shown = JSON.stringify(value).slice(0, 80);
          if (isSuccess(response)) accepted.push([name, asStored(schema, value)]);
          else expect([name, shown, response.status, response.body]).toEqual([name, shown, 400, refusalOf(name)]);
        }
      }
      const added = (await readAll(service.url, list)).slice(before.length);
      expect(added.map((row, index) => [accepted[index]![0], row[accepted[index]![0]]])).toEqual(accepted);
    });
  });
}

/** Whether a text may be any of some length. */
const isPlain = ({ format, enum: values, pattern }: ValueSchema) => !format && !values && !pattern;

/** Timestamps are in UTC in a response. */
const asStored = ({ format }: ValueSchema, value: unknown) =>
  format === 'date-time' && value ? new Date(value as string).toISOString() : value;

/** Values at the ends of what a schema allows, and just beyond. */
const endsOf = ({ enum: values = [], minimum, maximum, maxLength }: ValueSchema) => [
  ...values,
  ...(minimum === undefined ? [] : [minimum, minimum - 1]),
  ...(maximum === undefined ? [] : [maximum, maximum + 1]),
  ...(maxLength === undefined ? [] : ['x'.repeat(maxLength + 1)]),
];

/** Says of a column, as `Released year`, what it must be. */
const refusalOf = (name: string) => ({
  message: expect.stringMatching(
    new RegExp(`^${name.charAt(0).toUpperCase()}${name.slice(1).replaceAll('_', ' ')}( .+)? (must|cannot) `),
  ),
});

/** Reads the pages of a list, which is an array or the `data` of an object, until one has nothing new. */
async function readAll(url: string, list: string) {
  const rows = new Map<unknown, Fields>();
  for (let page = 1, size = -1; rows.size > size; page += 1) {
    size = rows.size;
    const { body } = await sendJson(url, 'GET', `${list}?page=${page}`);
    for (const row of Array.isArray(body) ? (body as Fields[]) : (body as { data: Fields[] }).data)
      rows.set(row.id, row);
  }
  return [...rows.values()];
}
