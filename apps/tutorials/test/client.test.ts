import { afterAll, expect, test } from '@jest/globals';
import { tutorialsClient } from '@rest-services/client';
import { startService } from '@rest-services/testing';

const service = await startService('dist/main.js');
afterAll(() => service.stop());

test('The typed client creates, searches, publishes and deletes a tutorial', async () => {
  const client = tutorialsClient({ baseUrl: service.url });
  const { data } = await client.POST('/api/tutorials', { body: { title: 'Fastify' } });
  const { id } = data!;
  await client.PUT('/api/tutorials/{id}', { params: { path: { id } }, body: { published: true } });
  const found = await client.GET('/api/tutorials', { params: { query: { title: 'FAST' } } });
  expect(found.data?.map((tutorial) => tutorial.published)).toEqual([true]);
  expect((await client.GET('/api/tutorials/published')).data).toHaveLength(1);
  expect((await client.DELETE('/api/tutorials')).data?.message).toBe('1 Tutorials were deleted successfully!');
  const gone = await client.GET('/api/tutorials/{id}', { params: { path: { id } } });
  expect(gone.error?.message).toBe(`Cannot find Tutorial with id=${id}.`);
});
