import { parse } from 'node:querystring';
import { afterAll, beforeEach, describe, expect, test } from '@jest/globals';
import { refusals, startService, testBodies } from '@rest-services/testing';
import fc from 'fast-check';
import type { LanguagesDatabase } from '../src/database.ts';
import { encodings, formType } from './encodings.ts';

// Bad input gets a 4xx with a message, and changes no row.

let id: number;

const service = await startService<LanguagesDatabase>('dist/main.js');
afterAll(() => service.stop());
beforeEach(async () => {
  await service.db.deleteFrom('programming_language').execute();
  await service.request('POST', '/programming-languages', { name: 'untouched', released_year: 1991, githut_rank: 1 });
  id = (await stored())[0]!.id;
});

const stored = () => service.db.selectFrom('programming_language').selectAll().orderBy('id').execute();

const writes = () =>
  [
    ['POST', '/programming-languages'],
    ['PUT', `/programming-languages/${id}`],
  ] as const;
const refused = refusals({ service: () => service, stored });

testBodies({ service: () => service, stored, writes });

/** Expects a 400 with this message to the body in POST and in PUT. */
async function expectRefusal(message: string, body: unknown, headers?: Record<string, string>) {
  for (const [method, path] of writes()) {
    expect(await refused(method, path, body, headers)).toMatchObject({ status: 400, body: { message } });
  }
}

const notAnInteger = (field: string) => `${field} must be an integer from -2147483648 to 2147483647`;
const numbers = [
  ['released_year', 'Released year'],
  ['githut_rank', 'Githut rank'],
  ['pypl_rank', 'Pypl rank'],
  ['tiobe_rank', 'Tiobe rank'],
] as const;

describe.each(encodings)('Bodies of POST and PUT, %s,', (_, encoded) => {
  test.each([
    ['no name', { released_year: 1991 }],
    ['an empty name', { name: '', released_year: 1991 }],
    ['a blank name', { name: ' \t\n\u00a0', released_year: 1991 }],
    ['a blank name that is too long', { name: ' '.repeat(256), released_year: 1991 }],
  ])('with %s are answered 400 Name cannot be empty', async (_case, body) => {
    await expectRefusal('Name cannot be empty', ...encoded(body));
  });

  test.each([
    ['no released_year', { name: 'a' }],
    ['an empty released_year', { name: 'a', released_year: '' }],
  ])('with %s are answered 400 Released year cannot be empty', async (_case, body) => {
    await expectRefusal('Released year cannot be empty', ...encoded(body));
  });

  test.each([
    ['256 characters', 'x'.repeat(256)],
    ['256 emoji', '😀'.repeat(256)],
  ])('with a name of %s are answered 400', async (_case, name) => {
    await expectRefusal('Name must be at most 255 characters', ...encoded({ name, released_year: 1991 }));
  });

  test('with a name that another record has are answered 409', async () => {
    await service.request('POST', '/programming-languages', { name: 'taken', released_year: 1991 });
    for (const [method, path] of writes()) {
      expect(await refused(method, path, ...encoded({ name: 'taken', released_year: 1991 }))).toMatchObject({
        status: 409,
        body: { message: 'Name is taken by another programming language' },
      });
    }
  });

  test.each(numbers)(
    'with a %s that is no integer of 32 bits are answered 400 and name the field',
    async (name, field) => {
      const values = ['abc', ' ', '1995.5', '1e3', '0x7cb', '+1995', ' 1995', 'NaN', 'true', '٣', '99999999999'];
      for (const value of [...values, 1995.5, 99_999_999_999, 2_147_483_648, -2_147_483_649, '9'.repeat(400)]) {
        await expectRefusal(notAnInteger(field), ...encoded({ name: 'a', released_year: 1991, [name]: value }));
      }
    },
  );

  test('with NUL in the name are answered 400', async () => {
    for (const name of ['\0', 'a\0b']) {
      await expectRefusal(
        'Name must not contain NUL or unpaired surrogates',
        ...encoded({ name, released_year: 1991 }),
      );
    }
  });

  test('with SQL in the name store it as text', async () => {
    const name = "'; drop table programming_language; --";
    expect(
      (await service.request('POST', '/programming-languages', ...encoded({ name, released_year: 1 }))).status,
    ).toBe(200);
    expect((await stored())[1]).toMatchObject({ name });
  });
});

describe('Bodies of POST and PUT in JSON', () => {
  test('that are null are answered as an empty object', () => expectRefusal('Name cannot be empty', 'null'));

  test('with null for what is required are answered 400', async () => {
    await expectRefusal('Name cannot be empty', { name: null, released_year: 1991 });
    await expectRefusal('Released year cannot be empty', { name: 'a', released_year: null });
  });

  test.each([12, true, [['a']], { a: 1 }].map((name) => ({ name })))(
    'with a name that is no text ($name) are answered 400',
    ({ name }) => expectRefusal('Name must be a string', { name, released_year: 1991 }),
  );

  test.each(numbers)('with a %s that is neither number nor text are answered 400', async (name, field) => {
    for (const value of [true, false, [], [1995], ['1995'], {}, { a: 1 }]) {
      await expectRefusal(notAnInteger(field), { name: 'a', released_year: 1991, [name]: value });
    }
  });

  test('with a number beyond what JavaScript holds are answered 400', () =>
    expectRefusal(notAnInteger('Released year'), '{"name":"a","released_year":1e400}'));

  test.each(['\\ud800', '\\udc00a', '\\ud83d\\ud83d\\ude00'])(
    'with an unpaired surrogate in the name (%s) are answered 400',
    (name) =>
      expectRefusal('Name must not contain NUL or unpaired surrogates', `{"name":"${name}","released_year":1991}`),
  );
});

describe('URL-encoded bodies of POST and PUT', () => {
  test.each(['&', '=', 'name', 'name[]=a&released_year=1991', '{"name":"a","released_year":1991}', '%', '__proto__=a'])(
    'without a field called name (%s) are answered 400',
    (body) => expectRefusal('Name cannot be empty', body, formType),
  );

  test('with a repeated field are refused when its first value is', async () => {
    await expectRefusal('Name cannot be empty', 'name=&name=a&released_year=1991', formType);
    await expectRefusal(notAnInteger('Released year'), 'name=a&released_year=abc&released_year=1991', formType);
    await expectRefusal(notAnInteger('Tiobe rank'), 'name=a&released_year=1&tiobe_rank=x&tiobe_rank=1', formType);
  });
});

describe('Bodies of POST and PUT', () => {
  test('that are missing are answered as an empty object, whatever their content type', async () => {
    for (const type of ['application/json', 'application/x-www-form-urlencoded', 'text/plain', '']) {
      for (const [method, path] of writes()) {
        const response = await fetch(service.url + path, {
          method,
          headers: type ? { 'content-type': type } : {},
        });
        expect([response.status, await response.json()]).toEqual([400, { message: 'Name cannot be empty' }]);
      }
    }
  });

  test.each(['text/plain', 'multipart/form-data; boundary=x', 'application/xml', 'nonsense'])(
    'of type %s are answered 415',
    async (type) => {
      for (const [method, path] of writes()) {
        const response = await refused(method, path, '{"name":"a","released_year":1991}', { 'content-type': type });
        expect(response.status).toBe(415);
      }
    },
  );

  test.each<Record<string, string>>([
    { 'content-type': 'application/x-www-form-urlencoded; charset=utf-16' },
    { ...formType, 'content-encoding': 'gzip' },
    { 'content-type': 'application/json; charset=iso-8859-1' },
  ])('that are not plain UTF-8 by their headers %j are answered 415', async (headers) => {
    for (const [method, path] of writes()) {
      const response = await refused(method, path, 'name=a&released_year=1991', headers);
      expect([response.status, response.body]).toEqual([415, { message: 'Body must be in UTF-8 and not compressed' }]);
    }
  });

  test('may say of themselves that they are plain UTF-8, in any case of letters', async () => {
    const headers = {
      'content-type': 'application/x-www-form-urlencoded;notcharset=latin1; charset="UTF-8"',
      'content-encoding': 'Identity',
    };
    const response = await service.request('PUT', `/programming-languages/${id}`, 'name=a&released_year=1991', headers);
    expect(response.status).toBe(200);
  });
});

describe('Paths and queries', () => {
  test.each(['%', '%ff', '%31%c0%af'])('that cannot be decoded (%s) are those of no record', async (id) => {
    const { status, body } = await service.request('DELETE', `/programming-languages/${id}`);
    expect([status, body]).toEqual([200, { message: 'Error in deleting programming language' }]);
  });

  test('with SQL in them find no record and take page 1', async () => {
    const before = await stored();
    const injection = encodeURIComponent('1 or 1=1; drop table programming_language; --');
    const removal = await service.request('DELETE', `/programming-languages/${injection}`);
    expect([removal.status, removal.body]).toEqual([200, { message: 'Error in deleting programming language' }]);
    const list = await service.request('GET', `/programming-languages?page=${injection}`);
    expect([list.status, list.body]).toEqual([200, { data: before, meta: { page: 1 } }]);
  });

  test('that are longer than a URL may be are answered 4xx with a message', async () => {
    const response = await fetch(`${service.url}/programming-languages/${'1'.repeat(20_000)}`, {
      method: 'DELETE',
    });
    expect([response.status, await response.json()]).toEqual([
      431,
      expect.objectContaining({ message: expect.any(String) }),
    ]);
  });
});

describe('Properties', () => {
  const options = { numRuns: 100 };
  const json = fc.jsonValue({ depthSize: 'medium', stringUnit: 'binary' });
  const integer = fc.integer({ min: -2_147_483_648, max: 2_147_483_647 });
  const number = fc.oneof(integer, integer.map(String));
  const name = fc
    .string({ unit: 'binary', minLength: 1, maxLength: 255 })
    .filter((text) => text.trim() !== '' && !text.includes('\0') && text.isWellFormed());

  test.each(encodings)('every storable record comes back as it was sent, %s', async (_, encoded) => {
    const languages = fc.record(
      { name, released_year: number, githut_rank: number, pypl_rank: number, tiobe_rank: number },
      { requiredKeys: ['name', 'released_year'] },
    );
    const numeric = (value: string | number | undefined) => (value === undefined ? null : Number(value));
    await fc.assert(
      fc.asyncProperty(languages, async (sent) => {
        const { status } = await service.request('PUT', `/programming-languages/${id}`, ...encoded({ ...sent }));
        expect(status).toBe(200);
        const { body } = await service.request('GET', '/programming-languages');
        expect((body as { data: unknown[] }).data).toEqual([
          expect.objectContaining({
            name: sent.name,
            released_year: numeric(sent.released_year),
            githut_rank: numeric(sent.githut_rank),
            pypl_rank: numeric(sent.pypl_rank),
            tiobe_rank: numeric(sent.tiobe_rank),
          }),
        ]);
      }),
      options,
    );
  });

  test('any JSON as a body is answered 200, 400 or 409', async () => {
    const likely = fc.oneof(json, number);
    const bodies = fc.oneof(
      json,
      fc.record({ name: fc.oneof(json, name), released_year: likely, githut_rank: likely, tiobe_rank: likely }),
    );
    await fc.assert(
      fc.asyncProperty(bodies, async (body) => {
        for (const [method, path] of writes()) {
          const { status } = await service.request(method, path, JSON.stringify(body));
          expect([200, 400, 409]).toContain(status);
        }
      }),
      options,
    );
  });

  test('any text as a form is answered 200, 400 or 409', async () => {
    const text = fc.string({ unit: 'binary' });
    const bytes = fc.uint8Array({ maxLength: 30 }).map((values) => Array.from(values, percent).join(''));
    const percent = (byte: number) => `%${byte.toString(16).padStart(2, '0')}`;
    const bodies = fc.oneof(
      fc.string({ unit: 'binary', minLength: 1 }),
      fc.tuple(fc.oneof(text, bytes), fc.oneof(text, number)).map(([a, b]) => `name=${a}&released_year=${b}`),
    );
    await fc.assert(
      fc.asyncProperty(bodies, async (body) => {
        for (const [method, path] of writes()) {
          const { status } = await service.request(method, path, body, formType);
          expect([200, 400, 409]).toContain(status);
        }
      }),
      options,
    );
  });

  test('any text as an id that names no record is answered 200 with the failure message', async () => {
    const ids = fc.oneof(
      fc.string({ unit: 'grapheme', minLength: 1 }),
      fc.bigInt().map(String),
      fc.double().map(String),
    );
    await fc.assert(
      fc.asyncProperty(ids, async (text) => {
        fc.pre(!['.', '..'].includes(text) && !(/^\d+$/.test(text) && Number(text) === id));
        const path = `/programming-languages/${encodeURIComponent(text)}`;
        expect(await service.request('PUT', path, { name: 'a', released_year: 1 })).toMatchObject({
          status: 200,
          body: { message: 'Error in updating programming language' },
        });
        expect(await service.request('DELETE', path)).toMatchObject({
          status: 200,
          body: { message: 'Error in deleting programming language' },
        });
      }),
      options,
    );
  });

  test('any text as a page is answered 200 with data', async () => {
    const texts = fc.oneof(fc.string({ unit: 'grapheme' }), fc.bigInt().map(String), fc.double().map(String));
    await fc.assert(
      fc.asyncProperty(texts, async (page) => {
        const query = new URLSearchParams({ page }).toString();
        const { status, body } = await service.request('GET', `/programming-languages?${query}`);
        expect([status, body]).toEqual([200, { data: expect.any(Array), meta: { page: expect.any(Number) } }]);
      }),
      options,
    );
  });
});

describe('URL-encoded bodies', () => {
  test.each(['name=caf%E9', 'name=a%ff', 'name=%ED%A0%80', 'name=%C0%AF', 'name=%E2%82'])(
    'that are not UTF-8 (%s) are answered 400, not stored altered',
    (name) => expectRefusal('Body is not valid UTF-8', `${name}&released_year=1991`, formType),
  );

  test('with bytes that are not UTF-8 are answered 400, not stored altered', async () => {
    for (const [method, path] of writes()) {
      const body = Buffer.from('name=a\xff&released_year=1991', 'latin1');
      const response = await fetch(service.url + path, { method, body, headers: formType });
      expect([response.status, await response.json()]).toEqual([400, { message: 'Body is not valid UTF-8' }]);
    }
  });

  test.each(['name=A%EF%BF%BD&released_year=1', 'name=A\ufffd&released_year=1', 'n%61me=A\ufffd&released%5fyear=1'])(
    'with U+FFFD in the name (%s) store it, as JSON does',
    async (form) => {
      const json = JSON.stringify({ name: 'A\ufffd', released_year: 1 });
      for (const [body, headers] of [[form, formType] as const, [json] as const]) {
        expect((await service.request('PUT', `/programming-languages/${id}`, body, headers)).status).toBe(200);
        expect(await stored()).toMatchObject([{ name: 'A\ufffd', released_year: 1 }]);
      }
    },
  );

  test('with a byte order mark are read without it', async () => {
    const body = '\ufeffname=a&released_year=1';
    expect((await service.request('PUT', `/programming-languages/${id}`, body, formType)).status).toBe(200);
    expect(await stored()).toMatchObject([{ name: 'a', released_year: 1 }]);
  });

  test('are read no further than the five fields: others may be anything', async () => {
    const body = 'other=%ff&%ff=1&name=a&released_year=1&__proto__=2&constructor';
    expect((await service.request('PUT', `/programming-languages/${id}`, body, formType)).status).toBe(200);
    expect(await stored()).toMatchObject([{ name: 'a', released_year: 1 }]);
  });

  test('of 1 MiB take little CPU, whatever is in them', async () => {
    const filled = (next: (n: number) => string) => {
      let text = 'released_year=x&';
      for (let n = 0; text.length < 1_048_560; n += 1) text += next(n);
      return text.slice(0, 1_048_560);
    };
    const different = filled((n) => `${n.toString(36)}&`);
    // CPU time of an object of all fields, as a measure of this machine.
    const whole = await cpuMs(() =>
      Promise.resolve(Object.fromEntries(Object.entries(parse(different, '&', '=', { maxKeys: 0 })))),
    );
    const bodies = [different, filled(() => '&'), filled(() => 'a&'), filled(() => '%x&'), filled(() => '%41&')];
    for (const body of [...bodies, filled(() => 'name='), filled((n) => (n === 0 ? 'name=' : '+%'))]) {
      const spent = await cpuMs(() => refused('PUT', `/programming-languages/${id}`, body, formType));
      expect([body.slice(16, 40), spent < whole / 2]).toEqual([body.slice(16, 40), true]);
    }
  }, 60_000);

  test('may hold a percent sign that encodes nothing, and any number of other fields', async () => {
    const others = Array.from({ length: 2_000 }, (_, index) => `f${index}=`).join('&');
    const response = await service.request(
      'POST',
      '/programming-languages',
      `${others}&name=100%&released_year=1`,
      formType,
    );
    expect(response.status).toBe(200);
    expect((await stored()).map(({ name }) => name)).toEqual(['untouched', '100%']);
  });
});

/** Least CPU time of three turns, in milliseconds. */
async function cpuMs(act: () => Promise<unknown>) {
  let least = Infinity;
  for (let turn = 0; turn < 3; turn += 1) {
    const before = process.cpuUsage();
    await act();
    const { user, system } = process.cpuUsage(before);
    least = Math.min(least, (user + system) / 1_000);
  }
  return least;
}
