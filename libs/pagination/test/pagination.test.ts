import { describe, expect, test } from '@jest/globals';
import { offsetAndLimit, pageHeaders } from '../src/index.ts';

const largest = Number.MAX_SAFE_INTEGER;

test.each([
  [{}, 0, 10],
  [{ page: 3 }, 20, 10],
  [{ page: 3, limit: 7 }, 14, 7],
  // A PostgreSQL bigint holds it.
  [{ page: largest, limit: largest }, largest, largest],
])('the page %j begins after %d rows and has %d', (query, offset, limit) => {
  expect(offsetAndLimit(query)).toEqual({ offset, limit });
});

describe('pageHeaders', () => {
  const relations = (query: Parameters<typeof pageHeaders>[0], total: number) => {
    const { link, 'x-total-count': count } = pageHeaders(query, total);
    expect(count).toBe(total);
    const links = [...link.matchAll(/<\?([^>]+)>; rel="(\w+)"(?:, |$)/g)];
    expect(links.map(([text]) => text).join('')).toBe(link);
    return Object.fromEntries(links.map(([, parameters, relation]) => [relation!, parameters!]));
  };

  test.each([
    ['no records', {}, 0, { first: 'page=1', last: 'page=1' }],
    ['the only page', {}, 10, { first: 'page=1', last: 'page=1' }],
    ['the first of two', {}, 11, { first: 'page=1', next: 'page=2', last: 'page=2' }],
    ['the middle', { page: 2 }, 21, { first: 'page=1', prev: 'page=1', next: 'page=3', last: 'page=3' }],
    ['the last', { page: 3 }, 30, { first: 'page=1', prev: 'page=2', last: 'page=3' }],
    ['past the end', { page: 9 }, 30, { first: 'page=1', prev: 'page=3', last: 'page=3' }],
    ['past the end of nothing', { page: 2 }, 0, { first: 'page=1', prev: 'page=1', last: 'page=1' }],
    [
      'a size of its own',
      { page: 2, limit: 4 },
      9,
      { first: 'page=1&limit=4', prev: 'page=1&limit=4', next: 'page=3&limit=4', last: 'page=3&limit=4' },
    ],
    [
      'the largest page and limit',
      { page: largest, limit: largest },
      3,
      {
        first: 'page=1&limit=9007199254740991',
        prev: 'page=1&limit=9007199254740991',
        last: 'page=1&limit=9007199254740991',
      },
    ],
  ])('lead from %s to the other pages', (_, query, total, expected) => {
    expect(relations(query, total)).toEqual(expected);
  });
});
