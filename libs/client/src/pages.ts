import type { Client, ClientPathsWithMethod, MaybeOptionalInit, MethodResponse } from 'openapi-fetch';
import { unwrap, type ErrorBody } from './unwrap.ts';

/** The target of the `Link` whose relation is `next` (RFC 8288). */
const NEXT = /<([^<>]*)>[^<>]*;\s*rel="?(?:[^"<>]*\s)?next(?![\w-])/i;

/** Options of a GET, as the client itself takes them. */
type GetOptions<Operations> = Operations extends { get: unknown } ? MaybeOptionalInit<Operations, 'get'> : never;

/**
 * Iterates over the bodies of a list's pages, from the one that `options` name to the last:
 * `for await (const page of pages(items, '/v1/items', { params: { query: { limit: 100 } } }))`.
 * @throws ResponseError when a response is not 2xx
 */
export async function* pages<Paths extends object, Path extends ClientPathsWithMethod<Client<Paths>, 'get'>>(
  client: Client<Paths>,
  path: Path,
  options?: GetOptions<Paths[Path]>,
): AsyncGenerator<MethodResponse<Client<Paths>, 'get', Path>> {
  type Body = MethodResponse<Client<Paths>, 'get', Path>;
  // The client's type says what it responds only where the path is known.
  type Call = Promise<{ data?: Body; error?: ErrorBody; response: Response }>;
  const get = client.GET as (path: Path, options: object) => Call;
  let url: URL | undefined;
  const followLink = { onRequest: ({ request }: { request: Request }) => url && new Request(url, request) };
  do {
    const call = get(path, { ...options, middleware: [...(options?.middleware ?? []), followLink] });
    yield await unwrap(call);
    const { response } = await call;
    const next = NEXT.exec(response.headers.get('link') ?? '')?.[1];
    url = next === undefined ? undefined : new URL(next, response.url);
  } while (url);
}
