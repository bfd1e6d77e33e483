import { randomUUID } from 'node:crypto';
import { METHODS, type IncomingMessage } from 'node:http';
import cors from '@fastify/cors';
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import { handleErrors, HttpError, type ErrorFormat } from '@rest-services/errors';
import Fastify from 'fastify';
import { boundBodyMemory } from './http/bodies.ts';
import { limitConnections } from './http/connection-limit.ts';
import { closeStalledSockets, handleClientError, trackConnections } from './http/connections.ts';
import { drainOnClose } from './http/drain.ts';
import { logStream } from './observability/log-stream.ts';
import { addDocument, type DocumentInfo } from './schema/openapi.ts';
import { onAborted } from './http/on-aborted.ts';
import { acceptJson } from './http/json-body.ts';
import { refuseOverload } from './http/overload.ts';
import { RequestLog } from './observability/request-log.ts';
import { securityHeaders } from './http/security-headers.ts';
import type { Settings } from './settings.ts';
import { compileSerializer } from './schema/serialisation.ts';
import { compileValidator } from './schema/validation.ts';

/** Maximum size of a request's URL and headers together: Node.js responds 431 to more. A path parameter may take all of it. */
const MAX_HEADER_BYTES = 16_384;

const HEADERS_TIMEOUT_MS = 5_000;
const REQUEST_TIMEOUT_MS = 10_000;

/** A request id that the caller chooses goes into every log line, so it must not be a novel; and into the answer's header as it is. */
const REQUEST_ID = /^[\x20-\x7e]{1,128}$/;

export interface ServiceOptions extends ErrorFormat, DocumentInfo {
  settings: Settings;
}

/** A Fastify app whose routes are typed by their schemas. */
export type Service = Awaited<ReturnType<typeof createService>>;

/** A Fastify app with what all services have in common, ready for the routes of one. */
export async function createService({ settings, title, description, ...errorFormat }: ServiceOptions) {
  const requestLog = new RequestLog(settings.LOG_LEVEL);
  const app = Fastify({
    // PostgreSQL quotes what was sent in the detail of an error and, when it is set to, where it happened: the log must not hold it.
    logger: {
      level: settings.LOG_LEVEL,
      redact: { paths: ['err.detail', 'err.where'], remove: true },
      stream: logStream,
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
    http: {
      maxHeaderSize: MAX_HEADER_BYTES,
      headersTimeout: HEADERS_TIMEOUT_MS,
      connectionsCheckingInterval: 250,
      // Replaced by `targetError`.
      requireHostHeader: false,
      // Without a body there is no stream to be read and ended, which would take some microseconds of each request.
      optimizeEmptyRequests: true,
    },
    // What reaches a closing service on an open connection is still answered.
    return503OnClosing: false,
    clientErrorHandler: handleClientError,
    // A path that can't be decoded is one in which percent signs stand for themselves: the route says what it makes of it.
    // Anything else, such as `http://`, is refused by a hook, because it has a log line and a metric then.
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

  app.addHook('onRequest', ({ id }, reply, done) => {
    reply.header('x-request-id', id).headers(securityHeaders);
    done();
  });
  onAborted(app, (request, reply) => requestLog.requestAborted(request, reply));
  trackConnections(app);
  closeStalledSockets(app);
  drainOnClose(app, settings.SHUTDOWN_DELAY_MS);
  boundBodyMemory(app);
  // Node.js parses the methods of RTSP, too. Fastify has no routes for them, so that they would have no log line.
  app.server.prependListener('request', (request: IncomingMessage) => {
    if (KNOWN_METHODS.has(request.method)) return;
    unroutable.add(request);
    request.method = 'GET';
  });
  // The system may be unable to hand over a connection. Without a listener that would end the process.
  app.server.once('listening', () =>
    app.server.on('error', (error) => app.log.error({ err: error }, 'Cannot accept a connection')),
  );
  // An Expect header that Node does not know is ignored: no service depends on one.
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response));
  // Before the hooks that refuse requests, because pages in a browser may read those responses, too.
  const origin = allowedOrigins(settings);
  if (origin) {
    await app.register(cors, {
      origin,
      methods: ['GET', 'HEAD', 'POST', 'PUT', 'DELETE'],
      // What a page in a browser may read beside the body.
      exposedHeaders: ['link', 'x-total-count', 'x-request-id', 'retry-after'],
      strictPreflight: false,
    });
  }
  app.addHook('onRequest', ({ raw }, _reply, done) => done(targetError(raw)));
  limitConnections(app, settings.DATABASE_POOL_MAX);
  await refuseOverload(app);
  await addDocument(app, { title, description }, errorFormat);
  return app;
}

const KNOWN_METHODS = new Set<string | undefined>(METHODS);

/** Requests that are no HTTP, though Node.js has parsed them. */
const unroutable = new WeakSet<IncomingMessage>();

/** What Node.js would refuse without a body, and without a line in the log; and what Fastify can't route. */
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
