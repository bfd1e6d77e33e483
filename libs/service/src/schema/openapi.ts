import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import swagger from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import type { ErrorFormat } from '@rest-services/errors';
import type { FastifyInstance, FastifySchema } from 'fastify';
import { Type, type TSchema } from 'typebox';
import { Message } from './schemas.ts';
import { webPageHeaders } from '../http/security-headers.ts';
import { version } from '../version.ts';

/** What the document says of the service as a whole. */
export interface DocumentInfo {
  title: string;
  description: string;
}

const Failure = Type.Object({
  message: Type.String(),
  error: Type.Object({ code: Type.String({ description: 'A SQLSTATE or the name of a system error.' }) }),
});

const Overloaded = {
  ...Message,
  description: 'More is asked for than can be done.',
  headers: { 'retry-after': Type.Integer({ description: 'Seconds after which to try again.', examples: [1] }) },
};

/** `/openapi.json`, made from the schemas of the routes, and `/docs`, a page to read and try it that needs no network. */
export async function addDocument(app: FastifyInstance, info: DocumentInfo, errorFormat: ErrorFormat) {
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: { ...info, version, license: { name: 'MIT', identifier: 'MIT' } },
      servers: [{ url: '/' }],
      security: [],
    },
    transform: ({ schema, url, route }) => ({
      schema: schema.hide
        ? schema
        : { ...schema, response: { ...errorsOf(schema, String(route.method), errorFormat), ...described(schema) } },
      url,
    }),
  });
  await app.register(swaggerUi, {
    routePrefix: '/docs',
    baseDir: pageFiles(),
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
}

/** The errors that any route of this kind can answer, on top of those that it declares itself. */
function errorsOf(schema: FastifySchema, method: string, { includeCode }: ErrorFormat): Record<string, TSchema> {
  const takesBody = method !== 'GET';
  const isConditional = method === 'PUT' || method === 'DELETE';
  return {
    ...(takesBody || schema.params ? { 400: { ...Message, description: descriptions[400] } } : {}),
    ...(takesBody ? {} : { 304: { ...Type.Null(), description: descriptions[304] } }),
    ...(isConditional ? { 412: { ...Message, description: descriptions[412] } } : {}),
    ...(takesBody ? { 413: { ...Message, description: 'The body is larger than 1 MiB.' } } : {}),
    ...(takesBody ? { 415: { ...Message, description: 'The body is of another media type.' } } : {}),
    500: { ...(includeCode ? Failure : Message), description: 'The database failed.' },
    503: Overloaded,
  };
}

/** The declared answers, each with the description that OpenAPI demands. */
function described({ response }: FastifySchema) {
  const answers = Object.entries(response as Record<string, TSchema & { description?: string }>);
  return Object.fromEntries(
    answers.map(([status, schema]) => [
      status,
      { ...schema, description: schema.description ?? defaultDescription(status) },
    ]),
  );
}

const defaultDescription = (status: string) => descriptions[status] ?? 'Done.';

const descriptions: Record<string, string> = {
  304: 'The client has this version: its entity tag is in If-None-Match.',
  400: 'What was sent is not valid; the message says what.',
  404: 'There is no such record.',
  412: 'The record has none of the entity tags in If-Match. Nothing has been changed.',
};

/** Beside the bundle where there is one, else in the package. */
function pageFiles() {
  const besideBundle = join(import.meta.dirname, 'swagger-ui');
  if (existsSync(besideBundle)) return besideBundle;
  return join(dirname(createRequire(import.meta.url).resolve('@fastify/swagger-ui/package.json')), 'static');
}
