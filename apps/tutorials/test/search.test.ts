import { beforeEach, expect, test } from '@jest/globals';
import { startService } from '@rest-services/testing';
import type { TutorialsDatabase } from '../src/database.ts';

const service = await startService<TutorialsDatabase>('dist/main.js');

const all = ['Fastify', 'fast food', '100% pure', 'a_b', 'a\\b', "it's", '"so"', 'a b', 'a+b', 'a\\%b', 'İSTANBUL'];
beforeEach(async () => {
  await service.db.deleteFrom('tutorial').execute();
  await store(...all);
});

const store = (...titles: string[]) =>
  service.db
    .insertInto('tutorial')
    .values(titles.map((title) => ({ title, description: 'not searched: zzz' })))
    .execute();

async function search(query: string) {
  const { status, body } = await service.request('GET', `/api/tutorials${query}`);
  return [status, status === 200 ? (body as { title: string }[]).map(({ title }) => title) : body];
}

test.each([
  ['Fastify', ['Fastify']],
  ['FAST', ['Fastify', 'fast food']],
  ['ood', ['fast food']],
  ['ista', ['İSTANBUL']],
  [' ', ['fast food', '100% pure', 'a b']],
  ['%', ['100% pure', 'a\\%b']],
  ['_', ['a_b']],
  ['\\', ['a\\b', 'a\\%b']],
  ['a%b', []],
  ["'", ["it's"]],
  ["' or 1=1 --", []],
  ['zzz', []],
  ['a'.repeat(1_000), []],
])('?title= finds the titles that contain the text, in any case and literally: %s', async (text, expected) => {
  expect(await search(`?title=${encodeURIComponent(text)}`)).toEqual([200, expected]);
});

test.each([
  ['?title=', 200, all],
  ['?other=Fastify', 200, all],
  ['?title[]=zzz', 200, all],
  ['?title=food&title=Fastify', 200, ['fast food']],
  ['?title=&title=Fastify', 200, all],
  ['?title=a+b', 200, ['a b']],
  ['?title=a%2bb', 200, ['a+b']],
  ['?title=food&t%69tle=%ff&other=%ff', 200, ['fast food']],
  ['?title=a%00b', 400, { message: 'Title must not contain NUL or unpaired surrogates' }],
  ['?title=caf%E9', 400, { message: 'Title is not valid UTF-8' }],
  ['?title=%ed%a0%80', 400, { message: 'Title is not valid UTF-8' }],
])('%s is read as a query string: %d', async (query, status, expected) => {
  expect(await search(query)).toEqual([status, expected]);
});

test('Found tutorials have all fields, in the order of their ids', async () => {
  await store('new Y', 'new X');
  const [first] = await service.db.selectFrom('tutorial').select('id').where('title', '=', 'new Y').execute();
  await service.request('PUT', `/api/tutorials/${first!.id}`, { published: true });
  const { body } = await service.request('GET', '/api/tutorials?title=NEW');
  const rest = { description: 'not searched: zzz', id: expect.any(Number) };
  expect(body).toEqual([
    { ...rest, title: 'new Y', published: true },
    { ...rest, title: 'new X', published: false },
  ]);
});
