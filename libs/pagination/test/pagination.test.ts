import { describe, expect, test } from '@jest/globals';
import { rowsOf } from '../src/index.ts';

describe('rowsOf', () => {
  test('takes page 1 and limit 10 when nothing is given', () => {
    expect(rowsOf({})).toEqual({ offset: 0, limit: 10 });
  });

  test.each([
    [
      { page: 1, limit: 7 },
      { offset: 0, limit: 7 },
    ],
    [{ page: 3 }, { offset: 20, limit: 10 }],
    [
      { page: 3, limit: 7 },
      { offset: 14, limit: 7 },
    ],
  ])('turns %j into %j', (query, rows) => {
    expect(rowsOf(query)).toEqual(rows);
  });

  test('stays within what a PostgreSQL bigint holds, however large page and limit are', () => {
    const largest = Number.MAX_SAFE_INTEGER;
    expect(rowsOf({ page: largest, limit: largest })).toEqual({ offset: largest, limit: largest });
  });
});
