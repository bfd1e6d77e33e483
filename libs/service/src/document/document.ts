import { existsSync } from 'node:fs';
import { join } from 'node:path';
import swagger from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import type { ErrorFormat } from '@rest-services/errors';
import type { FastifyInstance } from 'fastify';
import type { TSchema } from 'typebox';
import { webPageHeaders } from '../http/headers/response-headers.ts';
import { INTERNAL_KEYWORDS } from '../schema/annotations.ts';
import { version } from '../version.ts';
import { sharedComponents, sharedResponses, withSharedParts, type Operation } from './shared-responses.ts';

/** Files of the page, where the service is a bundle. */
const besideBundle = join(import.meta.dirname, 'swagger-ui');

/** What the document says of the service as a whole. */
export interface DocumentInfo {
  title: string;
  description: string;
}

/** `/openapi.json`, made from the schemas of the routes, and `/docs`, a page to read and try it that needs no network. */
export async function addDocument(app: FastifyInstance, info: DocumentInfo, errorFormat: ErrorFormat) {
  const tag = { name: info.title.toLowerCase(), description: info.description };
  const schemas: Record<string, object> = {};
  const shared = sharedResponses(errorFormat, (shape) => referenced(shape, schemas));

  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        ...info,
        version,
        contact: { name: 'The maintainers of rest-services' },
        license: { name: 'MIT', identifier: 'MIT' },
      },
      servers: [{ url: '/' }],
      security: [],
      tags: [tag],
    },
    transform: ({ schema: { response, ...request }, url }) => {
      const responses = Object.entries((response ?? {}) as Record<string, ResponseSchema>).map(
        ([status, { description = shared[status]?.response.description, headers, example, ...shape }]) => {
          const content = {
            'application/json': { schema: referenced(shape, schemas), ...(example ? { example } : {}) },
          };
          return [status, { description, headers, content }] as const;
        },
      );
      return {
        schema: { ...referenced(request, schemas), tags: [tag.name], response: Object.fromEntries(responses) },
        url,
      };
    },
    transformObject: (made) => {
      const document = (made as { openapiObject: { paths: Record<string, Record<string, Operation>> } }).openapiObject;
      const paths = Object.fromEntries(
        Object.entries(document.paths).map(([url, path]) => [url, withSharedParts(path, shared)]),
      );
      return { ...document, paths, components: { schemas, ...sharedComponents(paths, shared) } };
    },
  });
  await app.register(swaggerUi, {
    routePrefix: '/docs',
    ...(existsSync(besideBundle) ? { baseDir: besideBundle } : {}),
    // Without one of its own, the plugin would read its logo from a path that a bundle does not have.
    logo: { type: 'image/svg+xml', content: Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>') },
    theme: { title: info.title },
    staticCSP:
      "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; frame-ancestors 'none'",
    uiHooks: {
      onRequest(_request, reply, done) {
        reply.headers(webPageHeaders);
        done();
      },
    },
  });
  app.get('/openapi.json', { schema: { hide: true } }, () => app.swagger());
  // Relative, so that they hold under the path prefix of a proxy. Browsers show no header, and programs compare the body.
  app.addHook('onRequest', (request, reply, done) => {
    const isRoot = request.is404 && request.url === '/' && !reply.hasHeader('allow');
    if (isRoot) void reply.header('link', '<./docs>; rel="service-doc", <./openapi.json>; rel="service-desc"');
    if (isRoot && request.headers.accept?.includes('text/html'))
      void reply.code(404).send({ message: 'Not found', docs: './docs' });
    else done();
  });
}

/** A shape beside what OpenAPI says of a response. */
type ResponseSchema = TSchema & { description?: string; headers?: object; example?: unknown };

/**
 * Copies a schema without the keywords that mean nothing outside the service, and with references to the shapes that have an `$id`.
 * @param schemas gets those shapes by their `$id`
 */
function referenced<Schema extends object>(schema: Schema, schemas: Record<string, object>) {
  return JSON.parse(JSON.stringify(schema), (_, value: unknown): unknown => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
    const {
      $id: name,
      'x-documented-as': documented,
      ...keywords
    } = value as { $id?: string; 'x-documented-as'?: object };
    const shape = Object.entries(keywords).filter(([keyword]) => !INTERNAL_KEYWORDS.includes(keyword));
    const copy: Record<string, unknown> = { ...Object.fromEntries(shape), ...documented };
    if (name === undefined) return copy;
    schemas[name] = copy;
    return { $ref: `#/components/schemas/${name}` };
  }) as Schema;
}
