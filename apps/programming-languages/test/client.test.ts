import { afterAll, expect, test } from '@jest/globals';
import { programmingLanguagesClient } from '@rest-services/client';
import { startService } from '@rest-services/testing';

const service = await startService('dist/main.js');
afterAll(() => service.stop());

test('The typed client creates, lists, updates and deletes a programming language', async () => {
  const client = programmingLanguagesClient({ baseUrl: service.url });
  const body = { name: 'C', released_year: 1972, tiobe_rank: 1 };
  expect((await client.POST('/programming-languages', { body })).data?.message).toContain('created successfully');
  expect((await client.POST('/programming-languages', { body })).response.status).toBe(409);
  const page = await client.GET('/programming-languages', { params: { query: { page: 1 } } });
  const { id, githut_rank } = page.data!.data[0]!;
  expect(githut_rank).toBeNull();
  await client.PUT('/programming-languages/{id}', { params: { path: { id } }, body: { ...body, name: 'C17' } });
  const deleted = await client.DELETE('/programming-languages/{id}', { params: { path: { id } } });
  expect(deleted.data?.message).toBe('Programming language deleted successfully');
});
