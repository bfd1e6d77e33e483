import { ServerResponse, STATUS_CODES, type IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { finished, Readable } from 'node:stream';
import { HttpError, overloaded } from '@rest-services/errors';
import type { FastifyInstance } from 'fastify';
import { clientAddress } from '../headers/proxies.ts';
import { securityHeaders } from '../headers/security-headers.ts';

/** Timeout for a client that reads nothing of a response. */
const STALLED_TIMEOUT_MS = 60_000;

const STALLED_CHECK_INTERVAL_MS = 1_000;

/** Maximum number of requests in flight on one connection: more than any client pipelines. */
const MAX_PIPELINED = 50;

interface Connection {
  /** The response in work, for which all others wait. */
  current: ServerResponse | undefined;
  /** The last response, until it has been sent and its request has arrived. */
  last: ServerResponse | undefined;
  waiting: number;
}

declare module 'fastify' {
  interface FastifyInstance {
    connections: ReadonlyMap<Socket, Connection>;
  }
}

/** Decorates `app` with its open connections. */
export function trackConnections(app: FastifyInstance) {
  const connections = new Map<Socket, Connection>();
  app.decorate('connections', connections);
  app.server.on('connection', (socket) => {
    // Node.js keeps the address that it has read, and reads none of a connection that is closed, as with the last response.
    Reflect.get(socket, 'remoteAddress');
    connections.set(socket, { current: undefined, last: undefined, waiting: 0 });
    socket.once('close', () => connections.delete(socket));
  });
  app.addHook('onResponse', ({ raw }, reply, done) => {
    const connection = connections.get(raw.socket);
    // V8 would move the response of an idle connection to the old generation, which costs 4 to 7 % of the requests.
    if (connection?.last === reply.raw && raw.complete) connection.last = connection.current = undefined;
    done();
  });
}

/**
 * Closes a connection, by RST where it cuts off a response over HTTP/1.0, whose client takes the end of the connection for that of the
 * body.
 */
export function cut({ connections }: FastifyInstance, socket: Socket) {
  const response = connections.get(socket)?.current;
  if (response?.req.httpVersion === '1.0' && !response.writableFinished) socket.resetAndDestroy();
  else socket.destroy();
}

/** Closes the connection of a response whose stream ends without its end. */
export function cutBrokenStreams(app: FastifyInstance) {
  app.addHook('onSend', ({ raw: { socket } }, { raw }, payload, done) => {
    if (payload instanceof Readable) {
      // Before the listener of Fastify, which closes the connection by FIN. A stream that a 304 drops breaks no response.
      finished(payload, (error) => error && raw.headersSent && !raw.writableEnded && cut(app, socket));
    }
    done(null, payload);
  });
}

/**
 * Lets pipelined requests take effect in their order (RFC 9112, 9.3.2): a connection has one request in work. Responds 503 to more than
 * 50 on one connection, and closes a connection while more wait on all together than connections may be open. Otherwise, they fill
 * the memory, because Node.js reads requests without a limit.
 */
export function orderRequests(app: FastifyInstance) {
  const { server, connections } = app;
  let waiting = 0;
  server.on('connection', (socket) => {
    const connection = connections.get(socket) as Connection;
    socket.once('close', () => (waiting -= connection.waiting));
  });
  app.addHook('onRequest', ({ raw, routeOptions }, { raw: response }, done) => {
    const connection = connections.get(raw.socket) as Connection;
    const previous = connection.last;
    connection.last = response;
    if (previous?.writableFinished !== false) {
      connection.current = response;
      done();
      return;
    }
    const isTooMany = connection.waiting + 1 >= MAX_PIPELINED && !routeOptions.config.isForMachines;
    let unreadable: Error | undefined;
    raw.once('error', (error) => (unreadable = error));
    connection.waiting += 1;
    waiting += 1;
    if (waiting > server.maxConnections) raw.socket.destroy();
    previous.once('close', () => {
      if (!raw.socket.writable) return;
      connection.waiting -= 1;
      waiting -= 1;
      connection.current = response;
      done(isTooMany ? overloaded('requests_in_flight') : unreadable);
    });
  });
}

/**
 * Routes CONNECT, for which Node.js takes the connection away from HTTP, like a request of any other method. It is the last one of
 * its connection, because nothing parses what follows.
 */
export function routeConnect({ server, connections }: FastifyInstance) {
  server.on('connect', (request: IncomingMessage, socket: Socket) => {
    // Node.js has removed its own listeners, and reads no more.
    const destroy = () => socket.destroy();
    socket.on('error', destroy).on('timeout', destroy).resume();
    const connection = connections.get(socket);
    const respond = () => {
      if (!socket.writable) return;
      const response = new ServerResponse(request);
      response.shouldKeepAlive = false;
      response.assignSocket(socket);
      response.once('finish', () => socket.destroySoon());
      server.emit('request', request, response);
    };
    if (connection?.last?.writableFinished !== false) {
      respond();
      return;
    }
    // A long list waits for this event, which Node.js no longer passes on.
    socket.on('drain', () => connection.current?.emit('drain'));
    connection.last.once('close', respond);
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
  // A list may take longer than the body.
  response.once('finish', closeWhenDone);
}

/** Whether the client has announced that no request follows. */
const isLast = ({ httpVersion, headers: { connection = '' } }: IncomingMessage) =>
  httpVersion === '1.0' ? !/keep-alive/i.test(connection) : /close/i.test(connection);

/**
 * Closes connections whose clients do not read. Fastify's `connectionTimeout` would restart a timer with each read and write,
 * which costs 2 % of the requests per second; here only a connection with unread bytes has one.
 */
export function closeStalledSockets(app: FastifyInstance) {
  const check = setInterval(() => {
    for (const [socket, { current }] of app.connections) {
      const isUnread = socket.writableLength > 0;
      if (isUnread && !socket.timeout) socket.setTimeout(STALLED_TIMEOUT_MS);
      // The response in work may take the service longer. An idle connection has a timeout of Node.js, which may be as long.
      else if (!isUnread && current && socket.timeout === STALLED_TIMEOUT_MS) socket.setTimeout(0);
    }
  }, STALLED_CHECK_INTERVAL_MS).unref();
  app.addHook('onClose', () => clearInterval(check));
  app.server.on('timeout', (socket: Socket) => cut(app, socket));
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
    // The client would take it for the response to its next request.
    if (!isBody && code !== AFTER_LAST && socket.writable) {
      this.log.info({ status, code, ip: clientAddress(socket.remoteAddress) }, 'request');
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
