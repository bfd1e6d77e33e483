import { afterAll, expect, test } from '@jest/globals';
import { itemsClient } from '@rest-services/client';
import { startService } from '@rest-services/testing';

const service = await startService('dist/main.js');
afterAll(() => service.stop());

test('The typed client creates, lists, reads, updates and deletes an item', async () => {
  const client = itemsClient({ baseUrl: service.url });
  const created = await client.POST('/v1/items', { body: { title: 'Buy milk' } });
  const id = created.data!.id;
  expect((await client.GET('/v1/items', { params: { query: { limit: 5 } } })).data?.map((item) => item.title)).toEqual([
    'Buy milk',
  ]);
  await client.PUT('/v1/items/{id}', { params: { path: { id } }, body: { status: 'Finished' } });
  const item = await client.GET('/v1/items/{id}', { params: { path: { id } } });
  expect(item.data?.status).toBe('Finished');
  await client.DELETE('/v1/items/{id}', { params: { path: { id } } });
  const gone = await client.GET('/v1/items/{id}', { params: { path: { id } } });
  expect([gone.response.status, gone.error?.message]).toEqual([404, 'Item not found']);
});
