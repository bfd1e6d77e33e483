import { describe, expect, test } from '@jest/globals';
import { createIdempotencyKeys, Repository, type Database, type Migrations, type Table } from '@rest-services/database';
import { testColumnValues } from '@rest-services/testing';
import { sql } from 'kysely';
import { Type, type Static, type TSchema } from 'typebox';
import { acceptsText, Id, idempotencyKeyOf, sendList, Timestamp, type Settings } from '../src/index.ts';
import { assembleService } from '../src/assemble-service.ts';
import { loadSettings } from '../src/settings.ts';
import { createTestApp, getJson } from './http.ts';
import { serve } from './serve.ts';

/** Each kind of column that CONTRIBUTING.md names. */
const fields = {
  text: Type.String({ maxLength: 20 }),
  long_text: Type.String({ minLength: 1 }),
  code: Type.String({ pattern: '^[A-Z]{2}-\\d{3}$', examples: ['AB-123'] }),
  currency: Type.String({ pattern: '^(EUR|USD)$' }),
  due: Timestamp,
  seen_at: Type.Optional(Type.Unsafe<string | null>({ type: ['string', 'null'], format: 'date-time' })),
  day: Type.String({ format: 'date' }),
  uuid: Type.String({ format: 'uuid' }),
  small: Type.Integer({ minimum: -32_768, maximum: 32_767 }),
  big: Type.Integer(),
  positive: Type.Integer({ minimum: 1 }),
  price: Type.Number({ minimum: 0, maximum: 999_999.99, multipleOf: 0.01 }),
  ratio: Type.Optional(Type.Unsafe<number | null>({ type: ['number', 'null'], minimum: -200, ...acceptsText })),
  done: Type.Boolean(acceptsText),
  level: Type.Enum([1, 2, 3], { type: 'integer' }),
  status: Type.Enum(['open', 'closed'], { type: 'string' }),
  note: Type.Optional(Type.Unsafe<string | null>({ type: ['string', 'null'], maxLength: 5 })),
};
const valid = {
  ...{ text: 'a', long_text: 'a', code: 'AB-123', currency: 'EUR', due: '2026-11-20T18:30:00Z', day: '2026-11-20' },
  ...{ uuid: '8e03978e-40d5-43e8-bc93-6894a57f9324', small: 1, big: 1, positive: 1, price: 19.99 },
  ...{ done: true, level: 1, status: 'open' },
};
const Thing = Type.Object({ id: Id, ...fields }, { $id: 'Thing' });
const createThing = Type.Object(fields, { $id: 'CreateThing', examples: [valid] });

interface ThingsDatabase {
  thing: Table<Static<typeof Thing>, 'text'>;
}

const migrations: Migrations = {
  '0001_thing': {
    async up(db) {
      await sql`create table thing (
        id bigint primary key generated always as identity,
        text varchar(20) not null, long_text text not null, code char(6) not null, currency char(3) not null,
        due timestamptz(3) not null, seen_at timestamptz(3), day date not null, uuid uuid not null,
        small smallint not null, big bigint not null, positive numeric not null, price numeric(8, 2) not null, ratio double precision,
        done boolean not null, level integer not null check (level in (1, 2, 3)), status text not null, note varchar(5))`.execute(
        db,
      );
      await createIdempotencyKeys(db);
    },
  },
};

async function buildApp(db: Database<ThingsDatabase>, settings: Settings) {
  const app = await createTestApp(settings);
  const things = new Repository(db, 'thing', { row: Thing, insert: createThing, update: createThing, absent: 'kept' });
  const schema = { body: createThing, response: { 201: Type.Object({ id: Id }) } };
  app.post('/things', { schema }, async (request, reply) =>
    reply.code(201).send({ id: await things.insert(request.body, idempotencyKeyOf(request)) }),
  );
  app.get('/things', { schema: { response: { 200: Type.Array(Thing) } } }, async (_request, reply) =>
    sendList(reply, await things.list()),
  );
  return app;
}

const service = await serve({ migrations, buildApp });

testColumnValues(service, '/things');

test('A body may have 19.99, texts of numbers and booleans, unknown properties, and null for what is not sent', async () => {
  const sent = { ...valid, price: 19.99, ratio: '-1.5e2', done: 'false', note: null, other: 1 };
  const { status, body } = await service.request('POST', '/things', sent);
  expect(status).toBe(201);
  const [, list] = await getJson(`${service.url}/things`);
  const stored = (list as { id: number }[]).find(({ id }) => id === (body as { id: number }).id);
  expect(stored).toMatchObject({ price: 19.99, ratio: -150, done: false, note: null });
});

describe('The message of a 400', () => {
  const due = 'Due must be a timestamp such as 2026-11-20T18:30:00.000Z';
  test.each<[object, string]>([
    [{ text: 1 }, 'Text must be a string'],
    [{ text: 'x'.repeat(21) }, 'Text must be at most 20 characters'],
    [{ text: undefined }, 'Text cannot be empty'],
    [{ text: null }, 'Text cannot be empty'],
    [{ long_text: '' }, 'Long text must be at least 1 character'],
    [{ code: 'ab-123' }, 'Code must be a string such as AB-123'],
    [{ currency: 'CHF' }, 'Currency must be a string that matches ^(EUR|USD)$'],
    [{ due: 'tomorrow' }, due],
    [{ due: '2026-02-30T18:30:00Z' }, due],
    [{ due: '2026-11-20T18:30:00' }, due],
    [{ seen_at: 1 }, due.replace('Due', 'Seen at')],
    [{ day: '20.11.2026' }, 'Day must be a date such as 2026-11-20'],
    [{ uuid: 'x' }, 'Uuid must be a UUID such as 8e03978e-40d5-43e8-bc93-6894a57f9324'],
    [{ small: 40_000 }, 'Small must be an integer from -32768 to 32767'],
    [{ big: 1e30 }, 'Big must be an integer from -9007199254740991 to 9007199254740991'],
    [{ big: '1' }, 'Big must be an integer from -9007199254740991 to 9007199254740991'],
    [{ positive: 0 }, 'Positive must be an integer from 1 to 9007199254740991'],
    [{ price: 1.999 }, 'Price must be a number from 0 to 999999.99, a multiple of 0.01'],
    [{ ratio: '1,5' }, 'Ratio must be a number of at least -200'],
    [{ done: 'yes' }, 'Done must be a boolean'],
    [{ level: '1' }, 'Level must be 1 or 2 or 3'],
    [{ status: 'lost' }, 'Status must be open or closed'],
    [{ note: 12 }, 'Note must be a string'],
  ])('to %j is: %s', async (changes, message) => {
    expect(await service.request('POST', '/things', { ...valid, ...changes })).toMatchObject({
      status: 400,
      body: { message },
    });
  });
});

describe('A service does not start, and names the property', () => {
  const shape = (properties: Record<string, TSchema>) => Type.Object(properties, { $id: 'Wrong' });
  const noColumn = /Wrong\.odd: a column must be a string, an integer, a number, a boolean, or an enum of one of these/;
  const unknownFormat = /Wrong\.odd: unknown format "week"/;

  test.each<[string, TSchema, RegExp]>([
    ['an array', Type.Array(Type.String()), noColumn],
    ['one of several types', Type.Union([Type.String(), Type.Integer()]), noColumn],
    ['a constant', Type.Literal('open'), noColumn],
    ['of an unknown format', Type.String({ format: 'week' }), unknownFormat],
  ])('that is %s', async (_, odd, message) => {
    await expect(assembled({ body: shape({ text: Type.String(), odd }) })).rejects.toThrow(message);
  });

  test('or the route whose body is not an object, or has a parameter that is neither string nor integer', async () => {
    await expect(assembled({ body: Type.Array(Type.String()) })).rejects.toThrow(/POST: \/things.*a Type\.Object/);
    const querystring = Type.Object({ done: Type.Boolean() });
    await expect(assembled({ querystring })).rejects.toThrow(/POST: \/things.*done: a parameter must be/);
  });

  function assembled(schema: object) {
    const settings = loadSettings({ LOG_LEVEL: 'silent', DATABASE_URL: 'postgres://127.0.0.1/things' }, 0);
    const buildWrongApp = async () => (await createTestApp(settings)).post('/things', { schema }, () => ({}));
    return assembleService({ name: 'things', migrations: {}, buildApp: buildWrongApp }, settings);
  }
});
