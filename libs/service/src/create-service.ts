import { randomUUID } from 'node:crypto';
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import { handleErrors, type ErrorFormat } from '@rest-services/errors';
import Fastify from 'fastify';
import { addDocument, type DocumentInfo } from './document/document.ts';
import { bodyMemory } from './http/bodies/body-memory.ts';
import { compression } from './http/bodies/compression.ts';
import { jsonBodies } from './http/bodies/json-body.ts';
import { handleClientError, handleUrlError } from './http/connections/client-errors.ts';
import { connections } from './http/connections/connections.ts';
import { drain } from './http/connections/drain.ts';
import { overload } from './http/connections/overload.ts';
import { crossOrigin } from './http/headers/cross-origin.ts';
import { entityTags } from './http/headers/entity-tags.ts';
import { methods } from './http/headers/methods.ts';
import { trustOf } from './http/headers/proxies.ts';
import { responseHeaders } from './http/headers/response-headers.ts';
import { logStream } from './observability/log-stream.ts';
import { abortLog, describeError, RequestLog } from './observability/request-log.ts';
import { activeTraceIds, requestSpans } from './observability/telemetry/request-spans.ts';
import { compileSerializer } from './schema/serialisation.ts';
import { compileValidator } from './schema/validation.ts';
import { isTraced, type Settings } from './settings.ts';

/** Maximum size of a request's URL and headers together: Node.js responds 431 to more. A path parameter may take all of it. */
const MAX_HEADER_BYTES = 16_384;

const MAX_BODY_BYTES = 1_024 ** 2;

const HEADERS_TIMEOUT_MS = 5_000;
const REQUEST_TIMEOUT_MS = 10_000;

/** Timeout for a client that reads nothing of a response. */
const UNREAD_TIMEOUT_MS = 60_000;

/** Time for which Node.js keeps an idle connection longer than it tells the client. */
const KEEP_ALIVE_BUFFER_MS = 1_000;

/** Request ids that are accepted from clients: up to 128 characters, because each log line has them, and ASCII, because a header has them. */
const REQUEST_ID = /^[\x20-\x7e]{1,128}$/;

export interface ServiceOptions extends ErrorFormat, DocumentInfo {
  settings: Settings;
}

/** A Fastify app whose routes are typed by their schemas. */
export type Service = Awaited<ReturnType<typeof createService>>;

/**
 * A Fastify app with what all services have in common, ready for the routes of one. Each concern is a plugin. Hooks run in the order of
 * the plugins; one that has to come after another names it as a dependency, which Fastify checks at the start.
 */
export async function createService({ settings, title, description, ...errorFormat }: ServiceOptions) {
  const app = Fastify({
    // PostgreSQL quotes values of the request in the detail and the context of an error, which the log must not hold.
    logger: {
      level: settings.LOG_LEVEL,
      redact: { paths: ['err.detail', 'err.where'], remove: true },
      stream: logStream,
      serializers: { err: describeError },
      mixin: activeTraceIds,
    },
    logController: new RequestLog(),
    genReqId: ({ headers }) => {
      const given = headers['x-request-id'];
      return typeof given === 'string' && REQUEST_ID.test(given) ? given : randomUUID();
    },
    routerOptions: {
      ignoreTrailingSlash: true,
      maxParamLength: MAX_HEADER_BYTES,
      // The validator of a route reads the parameters that its schema names: Fastify's parser hides that bytes are not UTF-8.
      querystringParser: (text) => ({ text }),
    },
    bodyLimit: MAX_BODY_BYTES,
    requestTimeout: REQUEST_TIMEOUT_MS,
    connectionTimeout: UNREAD_TIMEOUT_MS,
    keepAliveTimeout: settings.KEEP_ALIVE_TIMEOUT_MS - KEEP_ALIVE_BUFFER_MS,
    trustProxy: trustOf(settings.TRUST_PROXY ?? '') ?? false,
    http: {
      maxHeaderSize: MAX_HEADER_BYTES,
      headersTimeout: HEADERS_TIMEOUT_MS,
      connectionsCheckingInterval: 250,
      // Node.js would respond without a body. `methods` refuses such a request.
      requireHostHeader: false,
      // A request without a body has no stream to read, which saves some microseconds.
      optimizeEmptyRequests: true,
    },
    // A closing service still responds on open connections.
    return503OnClosing: false,
    clientErrorHandler: handleClientError,
    frameworkErrors: handleUrlError,
  }).withTypeProvider<TypeBoxTypeProvider>();

  app.setValidatorCompiler(compileValidator);
  app.setSerializerCompiler(compileSerializer);
  handleErrors(app, errorFormat);

  await app.register(connections);
  await app.register(requestSpans, { isTraced: isTraced(settings) });
  await app.register(abortLog);
  await app.register(responseHeaders);
  await app.register(crossOrigin, settings);
  await app.register(methods);
  await app.register(overload);
  await app.register(entityTags);
  await app.register(jsonBodies);
  await app.register(bodyMemory);
  await app.register(compression);
  await app.register(drain, { delayMs: settings.SHUTDOWN_DELAY_MS });
  await addDocument(app, { title, description }, errorFormat);
  return app;
}
