import { randomUUID } from 'node:crypto';
import { METHODS, type IncomingMessage } from 'node:http';
import cors from '@fastify/cors';
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import { handleErrors, HttpError, type ErrorFormat } from '@rest-services/errors';
import Fastify from 'fastify';
import { addDocument, type DocumentInfo } from './document/document.ts';
import { boundBodyMemory } from './http/bodies/body-memory.ts';
import { compressResponses } from './http/bodies/compression.ts';
import { acceptJson } from './http/bodies/json-body.ts';
import { reportAborts } from './http/connections/aborts.ts';
import { limitConnections } from './http/connections/connection-limit.ts';
import {
  closeStalledSockets,
  cutBrokenStreams,
  handleClientError,
  orderRequests,
  routeConnect,
  trackConnections,
} from './http/connections/connections.ts';
import { drainOnClose } from './http/connections/drain.ts';
import { refuseOverload } from './http/connections/overload.ts';
import { addEntityTags } from './http/headers/entity-tags.ts';
import { CONTRACT_METHODS, nameMethods, respondToOptions } from './http/headers/methods.ts';
import { readForwarded, trustOf } from './http/headers/proxies.ts';
import { securityHeaders } from './http/headers/security-headers.ts';
import { logStream } from './observability/log-stream.ts';
import { describeError, RequestLog } from './observability/request-log.ts';
import { activeTraceIds, traceRequests } from './observability/telemetry/request-spans.ts';
import { compileSerializer } from './schema/serialisation.ts';
import { compileValidator } from './schema/validation.ts';
import type { Settings } from './settings.ts';

/** Maximum size of a request's URL and headers together: Node.js responds 431 to more. A path parameter may take all of it. */
const MAX_HEADER_BYTES = 16_384;

const HEADERS_TIMEOUT_MS = 5_000;
const REQUEST_TIMEOUT_MS = 10_000;

/** Time for which Node.js keeps an idle connection longer than it tells the client. */
const KEEP_ALIVE_BUFFER_MS = 1_000;

/** Time for which browsers may keep the response to a preflight: the maximum of Chromium. */
const PREFLIGHT_MAX_AGE_S = 7_200;

/** Request ids that are accepted from clients: up to 128 characters, because each log line has them, and ASCII, because a header has them. */
const REQUEST_ID = /^[\x20-\x7e]{1,128}$/;

export interface ServiceOptions extends ErrorFormat, DocumentInfo {
  settings: Settings;
}

/** A Fastify app whose routes are typed by their schemas. */
export type Service = Awaited<ReturnType<typeof createService>>;

/** A Fastify app with what all services have in common, ready for the routes of one. */
export async function createService({ settings, title, description, ...errorFormat }: ServiceOptions) {
  const requestLog = new RequestLog();
  const trust = settings.TRUST_PROXY === undefined ? undefined : trustOf(settings.TRUST_PROXY);
  const app = Fastify({
    // PostgreSQL quotes values of the request in the detail and the context of an error, which the log must not hold.
    logger: {
      level: settings.LOG_LEVEL,
      redact: { paths: ['err.detail', 'err.where'], remove: true },
      stream: logStream,
      serializers: { err: describeError },
      mixin: activeTraceIds,
    },
    logController: requestLog,
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
    requestTimeout: REQUEST_TIMEOUT_MS,
    keepAliveTimeout: settings.KEEP_ALIVE_TIMEOUT_MS - KEEP_ALIVE_BUFFER_MS,
    ...(trust && { trustProxy: trust }),
    http: {
      maxHeaderSize: MAX_HEADER_BYTES,
      headersTimeout: HEADERS_TIMEOUT_MS,
      connectionsCheckingInterval: 250,
      // Replaced by `targetError`.
      requireHostHeader: false,
      // A request without a body has no stream to read, which saves some microseconds.
      optimizeEmptyRequests: true,
    },
    // A closing service still responds on open connections.
    return503OnClosing: false,
    clientErrorHandler: handleClientError,
    // Percent signs stand for themselves in a path that can't be decoded. Other URLs, such as `http://`, get their 400 from a
    // hook, because they have a log line and a metric then.
    frameworkErrors: ({ code }, { raw }, reply) => {
      const { url = '' } = raw;
      const isPath = code === 'FST_ERR_BAD_URL' && url.startsWith('/');
      if (!isPath) unroutable.add(raw);
      raw.url = isPath ? url.replace(/^[^?]*/, (path) => path.replaceAll('%', '%25')) : '/';
      app.routing(raw, reply.raw);
      raw.url = url;
    },
  }).withTypeProvider<TypeBoxTypeProvider>();

  app.setValidatorCompiler(compileValidator);
  app.setSerializerCompiler(compileSerializer);
  acceptJson(app);
  handleErrors(app, errorFormat);
  reportAborts(app);
  // Before all other hooks, whose time is part of the span.
  traceRequests(app, settings);

  app.addHook('onRequest', ({ id }, reply, done) => {
    reply.header('x-request-id', id).headers(securityHeaders);
    done();
  });
  app.abortListeners.push((request, reply) => requestLog.requestAborted(request, reply));
  trackConnections(app);
  closeStalledSockets(app);
  drainOnClose(app, settings.SHUTDOWN_DELAY_MS);
  // Before the hook that makes counted strings bytes, of which no tag is made.
  addEntityTags(app);
  // Before requests wait, because Node.js would keep each chunk of a body that arrives.
  boundBodyMemory(app);
  orderRequests(app);
  routeConnect(app);
  if (settings.COMPRESSION) compressResponses(app);
  cutBrokenStreams(app);
  // Node.js parses the methods of RTSP, too. Fastify has no routes for them, so that they would have no log line.
  app.server.prependListener('request', (request: IncomingMessage) => {
    if (KNOWN_METHODS.has(request.method)) return;
    unroutable.add(request);
    request.method = 'GET';
  });
  // Without a listener, a connection that the system can't hand over ends the process.
  app.server.once('listening', () =>
    app.server.on('error', (error) => app.log.error({ err: error }, 'Cannot accept a connection')),
  );
  if (trust) readForwarded(app);
  // Unknown Expect headers are ignored, because no route depends on one.
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response));
  // Before CORS, which responds to preflights.
  nameMethods(app);
  // Before the hooks that refuse requests, because pages in a browser may read those responses, too.
  const origin = allowedOrigins(settings);
  if (origin) {
    await app.register(cors, {
      origin,
      methods: [...CONTRACT_METHODS],
      maxAge: PREFLIGHT_MAX_AGE_S,
      // Headers that a page in a browser may read.
      exposedHeaders: ['etag', 'link', 'location', 'x-total-count', 'x-request-id', 'retry-after'],
      strictPreflight: false,
    });
  }
  app.addHook('onRequest', ({ raw }, _reply, done) => done(targetError(raw)));
  respondToOptions(app);
  limitConnections(app, settings.DATABASE_POOL_MAX);
  await refuseOverload(app);
  await addDocument(app, { title, description }, errorFormat);
  return app;
}

const KNOWN_METHODS = new Set<string | undefined>(METHODS);

/** Requests that Node.js has parsed and Fastify can't route. */
const unroutable = new WeakSet<IncomingMessage>();

/** The error of a request that Fastify can't route, or that Node.js refuses without a body and a log line. */
function targetError(request: IncomingMessage) {
  if (unroutable.has(request)) return new HttpError(400, 'The request is not valid HTTP');
  const { rawHeaders, httpVersion } = request;
  const hosts = rawHeaders.filter((name, index) => index % 2 === 0 && name.length === 4 && /host/i.test(name)).length;
  return hosts > 1 || (hosts === 0 && httpVersion === '1.1')
    ? new HttpError(400, 'There must be one Host header')
    : undefined;
}

/** `CORS_ORIGIN`, where `:*` stands for any port; without it any origin in development and none in production. */
function allowedOrigins({ CORS_ORIGIN, NODE_ENV }: Settings) {
  if (CORS_ORIGIN === undefined) return NODE_ENV === 'production' ? false : '*';
  if (CORS_ORIGIN === '*') return '*';
  const origins = new Set(CORS_ORIGIN.split(',').map((origin) => origin.trim()));
  return (origin: string | undefined, answer: (error: null, isAllowed: boolean) => void) =>
    answer(null, origin !== undefined && (origins.has(origin) || origins.has(`${origin.replace(/:\d+$/, '')}:*`)));
}
