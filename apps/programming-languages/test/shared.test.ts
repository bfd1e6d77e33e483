import { testSharedParts } from '@rest-services/testing';

await testSharedParts({
  name: 'programming-languages',
  table: 'programming_language',
  list: '/programming-languages',

  writes: (number) => [
    { method: 'POST', path: '/programming-languages', body: { name: `New ${number}`, released_year: 2010 } },
    { method: 'PUT', path: `/programming-languages/${number}`, body: { name: `Put ${number}`, released_year: 2011 } },
    { method: 'DELETE', path: `/programming-languages/${number}` },
  ],
  failure: { message: 'Internal Server Error' },
});
