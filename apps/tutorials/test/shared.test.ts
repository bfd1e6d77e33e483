import { testSharedParts } from '@rest-services/testing';

await testSharedParts({
  name: 'tutorials',
  table: 'tutorial',
  list: '/api/tutorials',
  lists: ['/api/tutorials/published', '/api/tutorials?title=a'],
  one: (id) => `/api/tutorials/${id}`,
  writes: (number) => [
    { method: 'POST', path: '/api/tutorials', body: { title: `Tutorial ${number}` } },
    { method: 'PUT', path: `/api/tutorials/${number}`, body: { published: true } },
    { method: 'DELETE', path: `/api/tutorials/${number}` },
    { method: 'DELETE', path: '/api/tutorials' },
  ],
  failure: { message: 'Internal Server Error' },
});
