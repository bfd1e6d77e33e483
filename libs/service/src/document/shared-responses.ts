import type { ErrorFormat } from '@rest-services/errors';
import { Message, StorageError } from '../schema/schemas.ts';

// What the document says of headers and statuses that routes have in common. A header or a status of all routes, or of all routes
// of a method, stands here; one of a single route stands in its schema.

/** The part of an operation that decides what it shares. */
export interface Operation {
  parameters?: object[];
  requestBody?: object;
  responses: Record<string, Response>;
}

interface Response {
  description: string;
  headers?: Record<string, object>;
  content?: Record<string, { schema: object; example?: unknown }>;
}

/** Responses that operations share, by status. */
export type SharedResponses = Record<string, { name: string; response: Response }>;

const parameter = (name: string, description: string, schema: object = {}) => ({
  name,
  in: 'header',
  description,
  schema: { type: 'string', ...schema },
});

/** Headers of requests. Tools fill in all of them: an example, or a text of its kind, would be a 412 at the next change. */
const parameters = {
  RequestId: parameter(
    'x-request-id',
    'Id of the request in the log: printable ASCII. The service makes one in place of any other.',
    { maxLength: 128, default: '' },
  ),
  IfNoneMatch: parameter(
    'if-none-match',
    'Entity tags of the versions that the client has, each in quotation marks as in ETag: the response is a 304 if one is current.',
  ),
  IfMatch: parameter(
    'if-match',
    'Entity tag of the version that may be changed, in quotation marks as in ETag, or *: for another one the response is a 412.',
    { default: '*' },
  ),
};

/** Parameters of the operations of a method. */
const PARAMETERS_OF: Record<string, keyof typeof parameters> = {
  get: 'IfNoneMatch',
  put: 'IfMatch',
  delete: 'IfMatch',
};

const documented = (description: string, example: unknown, schema: object = {}) => ({
  description,
  schema: { type: 'string', ...schema },
  example,
});

const headers = {
  RequestId: documented(
    'Id of the request in the log: the one of the request, if it has any.',
    '0b0c5b5e-8a4f-4a37-9d6a-0b6f2a0f9c55',
    { minLength: 1, maxLength: 128 },
  ),
  RetryAfter: documented('Seconds after which to try again.', 1, { type: 'integer', minimum: 0 }),
  ETag: documented('Entity tag of this version. A long list has a weak one, or none.', '"Gq2LJXRIaNbFMwZpJ4VTEMmrDIQ"'),
  CacheControl: documented('no-cache with an entity tag, else no-store.', 'no-cache', {
    enum: ['no-cache', 'no-store'],
  }),
  ContentEncoding: documented('Compression of a long response, as Accept-Encoding requests it.', 'gzip', {
    enum: ['gzip'],
  }),
  Vary: documented('Headers of the request that a cache must compare.', 'accept-encoding'),
  Location: documented('URL of the new record, relative to that of the request.', 'items/1', {
    format: 'uri-reference',
  }),
};

const header = (name: keyof typeof headers) => ({ $ref: `#/components/headers/${name}` });

/** Headers of all responses. */
const headersOfAll = { 'x-request-id': header('RequestId') };

const tagHeaders = { etag: header('ETag'), 'cache-control': header('CacheControl'), vary: header('Vary') };

/** Headers of the success of a method. */
const headersOf = (method: string, status: string) => ({
  ...headersOfAll,
  ...(method === 'get' && status === '200' && { ...tagHeaders, 'content-encoding': header('ContentEncoding') }),
  ...(status === '201' && { location: header('Location') }),
});

/** @param referenced returns the reference to a shape that has a name */
export function sharedResponses(
  { failure, includeCode }: ErrorFormat,
  referenced: (shape: object) => object,
): SharedResponses {
  const share = (name: string, description: string, example?: object, headers: object = headersOfAll) => {
    const schema = example && referenced('error' in example ? StorageError : Message);
    const content = example && { content: { 'application/json': { schema: schema!, example } } };
    return { name, response: { description, headers: { ...headers }, ...content } };
  };
  return {
    304: share('NotModified', 'The client has the current version: its entity tag is in If-None-Match.', undefined, {
      ...headersOfAll,
      ...tagHeaders,
    }),
    400: share('BadRequest', 'The request is not valid. The message says why.', {
      message: 'The request is not valid HTTP',
    }),
    404: share('NotFound', 'There is no such record.', { message: 'Not found' }),
    408: share(
      'RequestTimeout',
      'The request has not arrived in time: its headers in 5 s, its body in 10 s.',
      { message: 'The request has not arrived in time' },
      {},
    ),
    412: share('PreconditionFailed', 'The record has none of the entity tags in If-Match. Nothing has been changed.', {
      message: 'The record has changed since it was read',
    }),
    413: share('ContentTooLarge', 'The body is larger than 1 MiB.', { message: 'Request body is too large' }),
    415: share('UnsupportedMediaType', 'The body has another media type or encoding than the service reads.', {
      message: 'Body must be in UTF-8 and not compressed',
    }),
    431: share(
      'HeaderFieldsTooLarge',
      'The URL and the headers are longer than 16 KiB together.',
      { message: 'The URL and the headers are too long' },
      {},
    ),
    500: share('InternalServerError', 'The service or its database has failed.', {
      message: failure,
      ...(includeCode && { error: { code: '57P03' } }),
    }),
    503: share(
      'ServiceUnavailable',
      'The service is overloaded and has done nothing. The same request may succeed in a moment.',
      { message: 'The service is overloaded, try again in a moment' },
      { ...headersOfAll, 'retry-after': header('RetryAfter') },
    ),
  };
}

/** The statuses that an operation has whether or not its route declares them. */
const statusesOf = (method: string, { requestBody }: Operation) => [
  ...(method === 'get' ? [304] : []),
  400,
  408,
  ...(PARAMETERS_OF[method] === 'IfMatch' ? [412] : []),
  ...(requestBody ? [413, 415] : []),
  431,
  500,
  503,
];

/** Adds to the operations of a path what they share, and refers to it. */
export function withSharedParts(path: Record<string, Operation>, shared: SharedResponses) {
  const reference = (status: string | number) => ({ $ref: `#/components/responses/${shared[status]!.name}` });
  const operations = Object.entries(path).map(([method, operation]) => {
    const own = Object.entries(operation.responses).map(([status, response]) => {
      const isShared =
        response.description === shared[status]?.response.description &&
        !response.content?.['application/json']?.example;
      return [
        status,
        isShared ? reference(status) : { ...response, headers: { ...headersOf(method, status), ...response.headers } },
      ];
    });
    const others = statusesOf(method, operation).map((status) => [status, reference(status)]);
    // A record that can't be read has no entity tag to send.
    const precondition = path.get && PARAMETERS_OF[method];
    return [
      method,
      {
        ...operation,
        ...(precondition && {
          parameters: [...(operation.parameters ?? []), { $ref: `#/components/parameters/${precondition}` }],
        }),
        responses: Object.fromEntries([...others, ...own]) as object,
      },
    ] as const;
  });
  return { parameters: [{ $ref: '#/components/parameters/RequestId' }], ...Object.fromEntries(operations) };
}

/** The components that operations share and these paths refer to. */
export function sharedComponents(paths: object, shared: SharedResponses) {
  const responses = Object.fromEntries(Object.values(shared).map(({ name, response }) => [name, response]));
  const text = JSON.stringify([paths, responses]);
  const used = Object.entries({ responses, parameters, headers }).map(([kind, components]) => {
    const isUsed = ([name]: [string, object]) => text.includes(`"#/components/${kind}/${name}"`);
    return [kind, Object.fromEntries(Object.entries<object>(components).filter(isUsed))];
  });
  return Object.fromEntries(used) as object;
}
