import { Type, type Static } from 'typebox';

const defaultLimit = 10;

/** Query parameters of a paged list. A value that is no positive decimal integer takes its default; none is too large. */
export const PageQuery = Type.Object({
  page: Type.Optional(Type.Integer({ minimum: 1, default: 1, description: 'Number of the page, counted from 1.' })),
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      default: defaultLimit,
      description: 'Records per page. Not clamped: a large page is streamed.',
    }),
  ),
});

/**
 * The rows that a page holds. Both numbers stay within what JavaScript and a PostgreSQL bigint hold exactly, where no
 * table has rows any more, so that a page of any number is a valid, empty page.
 */
export function rowsOf({ page = 1, limit = defaultLimit }: Static<typeof PageQuery>): {
  offset: number;
  limit: number;
} {
  return { offset: exact((page - 1) * limit), limit: exact(limit) };
}

const exact = (count: number) => Math.min(count, Number.MAX_SAFE_INTEGER);
