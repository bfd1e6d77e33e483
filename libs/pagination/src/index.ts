import { Type, type Static } from 'typebox';

const defaultLimit = 10;

/** Query parameters of a paged list. A value other than a positive decimal integer takes its default; none is too large. */
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
 * Offset and number of the records of a page. The offset stays within what JavaScript and a PostgreSQL bigint hold exactly, where no
 * table has rows any more, so that a page of any number is a valid, empty page.
 */
export const offsetAndLimit = ({ page = 1, limit = defaultLimit }: Static<typeof PageQuery>) => ({
  offset: Math.min((page - 1) * limit, Number.MAX_SAFE_INTEGER),
  limit,
});

/** Schemas of the headers that `pageHeaders` makes, for the `headers` of a response's schema. */
export const PageHeaders = {
  link: Type.String({
    description: 'URLs of the first, prev, next and last page (RFC 8288), as far as there are such pages.',
    examples: ['<?page=1>; rel="first", <?page=2>; rel="next", <?page=5>; rel="last"'],
  }),
  'x-total-count': Type.Integer({ minimum: 0, description: 'Records on all pages together.', examples: [42] }),
};

/**
 * Headers with the URLs of the other pages, relative to that of the request, so that they hold under the path prefix of a proxy.
 * Past the end, `prev` is the last page.
 * @param query as it was sent: without `limit`, the URLs have none either
 */
export function pageHeaders({ page = 1, limit }: Static<typeof PageQuery>, total: number) {
  const last = Math.max(1, Math.ceil(total / (limit ?? defaultLimit)));
  const pages = {
    first: 1,
    prev: page > 1 ? Math.min(page - 1, last) : undefined,
    next: page < last ? page + 1 : undefined,
    last,
  };
  const size = limit === undefined ? '' : `&limit=${limit}`;
  const links = Object.entries(pages).filter(([, number]) => number !== undefined);
  return {
    link: links.map(([rel, number]) => `<?page=${number}${size}>; rel="${rel}"`).join(', '),
    'x-total-count': total,
  };
}
