import { beforeAll, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { sendJson } from '../http/send-json.ts';
import { readDocument, type ValueSchema } from '../service/document.ts';

type Fields = Record<string, unknown>;

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
    let example: Fields;
    beforeAll(async () => {
      const { requestBody } = (await readDocument(service.url)).paths[list]!['post']!;
      const schema = requestBody!.content!['application/json']!.schema;
      properties = schema.properties!;
      example = schema.examples![0]!;
    });
    const post = (body: object) => answered(service.url, 'POST', list, body);
    const isSuccess = ({ status }: { status: number }) => status === 200 || status === 201;
    const plainTexts = () =>
      Object.entries(properties).filter(([, { type, ...rest }]) => [type].flat()[0] === 'string' && isPlain(rest));

    /** Body number `n`: the example, with other texts. */
    const bodyOf = (n: number): Fields => ({
      ...example,
      ...Object.fromEntries(plainTexts().map(([name, { maxLength = 99 }]) => [name, `Text ${n}`.slice(-maxLength)])),
    });

    test('stores any text as it was sent unless it is blank', async () => {
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

    test('stores any value as it was sent, or responds 400 with a message that names it', async () => {
      const before = await readAll(service.url, list);
      const accepted: [string, unknown][] = [];
      let n = 0;
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

/** Sends a request again while it gets 503, by which nothing has been done, or reads 500: a busy machine exceeds both limits. */
async function answered(...request: Parameters<typeof sendJson>) {
  let response = await sendJson(...request);
  while (response.status === 503 || (response.status === 500 && request[1] === 'GET'))
    response = await sendJson(...request);
  return response;
}

/** Reads the pages of a list, which is an array or the `data` of an object, until one has nothing new. */
async function readAll(url: string, list: string) {
  const rows = new Map<unknown, Fields>();
  for (let page = 1, size = -1; rows.size > size; page += 1) {
    size = rows.size;
    const { body } = await answered(url, 'GET', `${list}?page=${page}`);
    for (const row of Array.isArray(body) ? (body as Fields[]) : (body as { data: Fields[] }).data)
      rows.set(row.id, row);
  }
  return [...rows.values()];
}
