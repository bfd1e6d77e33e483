import { testSharedParts } from '@rest-services/testing';

await testSharedParts({
  name: 'items',
  table: 'item',
  list: '/v1/items',
  one: (id) => `/v1/items/${id}`,
  writes: (number) => [
    { method: 'POST', path: '/v1/items', body: { title: `Item ${number}` } },
    { method: 'PUT', path: `/v1/items/${number}`, body: { status: 'Finished' } },
    { method: 'DELETE', path: `/v1/items/${number}` },
  ],
  failure: { message: 'Database error', error: { code: '42P01' } },
});
