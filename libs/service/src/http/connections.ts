import { STATUS_CODES, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { HttpError, overloaded } from '@rest-services/errors';
import type { FastifyInstance } from 'fastify';
import { securityHeaders } from './security-headers.ts';

/** Timeout for a client that reads nothing of a response. */
const STALLED_TIMEOUT_MS = 60_000;

const STALLED_CHECK_INTERVAL_MS = 1_000;

/** Maximum number of requests in flight on one connection: more than any client pipelines. */
const MAX_PIPELINED = 50;

interface Connection {
  /** The last response, until it has been sent and its request has arrived. */
  last: ServerResponse | undefined;
  inFlight: number;
}

declare module 'fastify' {
  interface FastifyInstance {
    connections: ReadonlyMap<Socket, Connection>;
  }
}

/**
 * Decorates `app` with its open connections, and responds 503 while more requests are in flight than connections may be open, or more
 * than 50 on one connection. Otherwise, pipelined requests, which no limit of Node.js counts, fill the memory while the database is slow.
 */
export function trackConnections(app: FastifyInstance) {
  const { server } = app;
  const connections = new Map<Socket, Connection>();
  app.decorate('connections', connections);
  let inFlight = 0;

  server.on('connection', (socket) => {
    const connection: Connection = { last: undefined, inFlight: 0 };
    connections.set(socket, connection);
    socket.once('close', () => {
      connections.delete(socket);
      inFlight -= connection.inFlight;
    });
  });
  app.addHook('onRequest', ({ raw, routeOptions }, reply, done) => {
    const connection = connections.get(raw.socket);
    if (connection) {
      connection.last = reply.raw;
      connection.inFlight += 1;
      inFlight += 1;
    }
    const isTooMany =
      !routeOptions.config.isForMachines &&
      (inFlight > server.maxConnections || (connection !== undefined && connection.inFlight > MAX_PIPELINED));
    done(isTooMany ? overloaded('requests_in_flight') : undefined);
  });
  app.addHook('onResponse', ({ raw }, reply, done) => {
    const connection = connections.get(raw.socket);
    if (connection) {
      connection.inFlight -= 1;
      inFlight -= 1;
      // Otherwise, V8 moves the response of an idle connection to the old generation, which costs 4 to 7 % of the requests.
      if (raw.complete && connection.last === reply.raw) connection.last = undefined;
    }
    done();
  });
}

/**
 * Closes the connection of a request with `Connection: close` after its body has arrived, or at its timeout. Node.js closes it with
 * the response, so that Python's urllib would fail while it sends, before it has read the 413 (RFC 9112, 9.6).
 */
export function lingeringClose(request: IncomingMessage, response: ServerResponse) {
  if (request.complete || request.readableEnded || response.shouldKeepAlive || !isLast(request)) return;
  response.shouldKeepAlive = true;
  response.removeHeader('connection');
  const closeWhenDone = () => {
    if (request.readableEnded && response.writableFinished) request.socket.end();
  };
  request.once('end', closeWhenDone);
  // A long list may take longer than the body.
  response.once('finish', closeWhenDone);
}

/** Whether the client has announced that no request follows. */
const isLast = ({ httpVersion, headers: { connection = '' } }: IncomingMessage) =>
  httpVersion === '1.0' ? !/keep-alive/i.test(connection) : /close/i.test(connection);

/**
 * Closes connections whose clients do not read. Fastify's `connectionTimeout` would restart a timer with each read and write,
 * which costs 2 % of small requests; here only a connection with unread bytes has one.
 */
export function closeStalledSockets(app: FastifyInstance) {
  const check = setInterval(() => {
    for (const socket of app.connections.keys()) {
      const isUnread = socket.writableLength > 0;
      if (isUnread && !socket.timeout) socket.setTimeout(STALLED_TIMEOUT_MS);
      // The next response may take the service longer.
      else if (!isUnread && socket.timeout === STALLED_TIMEOUT_MS) socket.setTimeout(0);
    }
  }, STALLED_CHECK_INTERVAL_MS).unref();
  app.addHook('onClose', () => clearInterval(check));
}

/** Responses by error code of Node.js and its parser; any other code means that the bytes are not HTTP. */
const byErrorCode: Record<string, [status: number, message: string]> = {
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'The request has not arrived in time'],
  HPE_HEADER_OVERFLOW: [431, 'The URL and the headers are too long'],
  HPE_CHUNK_EXTENSIONS_OVERFLOW: [413, 'The body is too large'],
};

/** Error code for bytes after a request with `Connection: close`. */
const AFTER_LAST = 'HPE_CLOSED_CONNECTION';

/** Event of the server with the status of each response to bytes that are not a request. */
export const REFUSED = 'refused';

const refused = new WeakSet<Socket>();

/**
 * Responds to bytes that Node.js can't read as a request, after the responses in flight. A request whose body can't be read gets
 * the response of its route instead, with a log line and metrics of its own.
 */
export function handleClientError(this: FastifyInstance, error: Error & { code?: string }, socket: Socket) {
  const { code = '' } = error;
  if (code === 'ECONNRESET' || socket.destroyed || refused.has(socket)) return;
  refused.add(socket);
  const [status, message] = byErrorCode[code] ?? [400, 'The request is not valid HTTP'];
  const last = this.connections.get(socket)?.last;
  const isBody = last?.req.complete === false;
  if (isBody && !last.headersSent) {
    last.setHeader('connection', 'close');
    // destroy() would close the connection.
    if (last.req.listenerCount('error') > 0) last.req.emit('error', new HttpError(status, message));
    return;
  }
  const refuse = () => {
    // Otherwise, the client takes it for the response to its next request.
    if (!isBody && code !== AFTER_LAST && socket.writable) {
      this.log.info({ status, code, ip: socket.remoteAddress }, 'request');
      this.server.emit(REFUSED, status);
      socket.end(asText(status, message));
    }
    socket.destroySoon();
  };
  if (last?.writableFinished === false) last.once('close', refuse);
  else refuse();
}

/** A response in full, for a connection without a request. */
function asText(status: number, message: string) {
  const body = JSON.stringify({ message });
  const headers = {
    ...securityHeaders,
    'content-type': 'application/json; charset=utf-8',
    'content-length': Buffer.byteLength(body),
    connection: 'close',
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  return [`HTTP/1.1 ${status} ${STATUS_CODES[status]}`, ...lines, '', body].join('\r\n');
}
