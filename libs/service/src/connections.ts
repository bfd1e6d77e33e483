import { ServerResponse, STATUS_CODES, type IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { HttpError, overloaded } from '@rest-services/errors';
import type { FastifyInstance } from 'fastify';
import { securityHeaders } from './security-headers.ts';

/** A reader who takes nothing of an answer for so long is cut. */
const UNREAD_TIMEOUT_MS = 60_000;

const LOOK_EVERY_MS = 1_000;

/** Pipelined requests of one connection that may wait for their turn; one more is refused then, and the connection closed. */
const MAX_WAITING = 50;

/** The same for all connections together; with one more, its connection is cut. Each waiting request takes about 10 kB. */
const MAX_WAITING_TOGETHER = 1_000;

interface Connection {
  /** The response that is being made or sent; those after it wait. */
  current: ServerResponse | undefined;
  /** The answer to the last request, while it is under way. */
  last: ServerResponse | undefined;
  /** The last request, if it has been answered before its body had arrived. */
  answeredEarly: IncomingMessage | undefined;
  waiting: number;
}

const NEW: Connection = { current: undefined, last: undefined, answeredEarly: undefined, waiting: 0 };

const connections = new WeakMap<Socket, Connection>();

/** Why the rest of a request can't be read. */
const unreadable = new WeakMap<IncomingMessage, HttpError>();

/**
 * Requests that are sent on one connection without waiting for answers are carried out one after the other (RFC 9112, 9.3.2
 * and 9.6): a write takes effect before what follows it is read, nothing does after an answer that closes the connection,
 * and answers that nobody reads do not pile up. Node.js would read requests as fast as they come, into the memory: too many are
 * not waited for.
 */
export function orderPipelined(app: FastifyInstance) {
  let waiting = 0;
  app.addHook('onRequest', ({ raw: request }, reply, done) => {
    const { socket } = request;
    let connection = connections.get(socket);
    if (!connection) connections.set(socket, (connection = { ...NEW }));
    const { last } = connection;
    connection.answeredEarly = undefined;
    connection.last = reply.raw;
    if (last?.writableFinished !== false) {
      connection.current = reply.raw;
      done();
      return;
    }
    connection.waiting += 1;
    waiting += 1;
    if (waiting > MAX_WAITING_TOGETHER) socket.destroy();
    const isOneTooMany = connection.waiting > MAX_WAITING;
    last.once('close', () => {
      connection.waiting -= 1;
      waiting -= 1;
      if (!socket.writable) return;
      connection.current = reply.raw;
      if (isOneTooMany) reply.raw.shouldKeepAlive = false;
      done(isOneTooMany ? overloaded() : unreadable.get(request));
    });
  });
  // An idle connection would otherwise keep its last answer until the next request: long enough for V8 to move it to the
  // old generation, which costs 4 to 7 % of the requests with 64 connections.
  app.addHook('onResponse', ({ raw: request }, { raw: response }, done) => {
    const connection = connections.get(request.socket);
    if (connection?.last === response) {
      connection.last = connection.current = undefined;
      connection.answeredEarly = request.complete ? undefined : request;
    }
    done();
  });
}

/** Makes the answer that is under way the last one of its connection. */
export function closeAfterAnswer(socket: Socket) {
  const last = connections.get(socket)?.last;
  if (last) last.shouldKeepAlive = false;
}

/**
 * To be called before an answer is sent. When its caller, who has asked for the connection to be closed, is still sending the body,
 * it is closed when all has arrived, or when that takes too long: closed with the answer, as Node.js does, most senders would learn
 * of that before they had read it (RFC 9112, 9.6).
 */
export function closeWhenReceived(request: IncomingMessage, response: ServerResponse) {
  if (request.complete || request.readableEnded || response.shouldKeepAlive || !isLast(request)) return;
  response.shouldKeepAlive = true;
  response.removeHeader('connection');
  const closeWhenOver = () => {
    if (request.readableEnded && response.writableFinished) request.socket.end();
  };
  request.once('end', closeWhenOver);
  // A long list may take longer than the body.
  response.once('finish', closeWhenOver);
}

/** Whether the caller has said that no request follows. */
const isLast = ({ httpVersion, headers: { connection = '' } }: IncomingMessage) =>
  httpVersion === '1.0' ? !/keep-alive/i.test(connection) : /close/i.test(connection);

/** @returns the connections that are open at the time when it is looked at */
export function openSockets({ server }: FastifyInstance): ReadonlySet<Socket> {
  const open = new Set<Socket>();
  server.on('connection', (socket) => {
    open.add(socket);
    socket.once('close', () => open.delete(socket));
  });
  return open;
}

/**
 * Cuts readers who do not read, which Node.js does after one or two times the limit: it counts from when it looks for the first
 * time. With Fastify's `connectionTimeout` every connection would have a timer, started anew with each read and write: 2 % of
 * small requests. Here only those have one that are found not to have taken all that was written.
 */
export function cutUnread(app: FastifyInstance, open: ReadonlySet<Socket>) {
  const look = setInterval(() => {
    for (const socket of open) {
      const isUnread = socket.writableLength > 0;
      if (isUnread && !socket.timeout) socket.setTimeout(UNREAD_TIMEOUT_MS);
      // What comes next may take the service its time.
      else if (!isUnread && socket.timeout === UNREAD_TIMEOUT_MS) socket.setTimeout(0);
    }
  }, LOOK_EVERY_MS).unref();
  app.addHook('onClose', () => clearInterval(look));
}

/** Codes of Node.js and its parser; anything else is no HTTP. */
const byErrorCode: Record<string, [status: number, message: string]> = {
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'The request has not arrived in time'],
  HPE_HEADER_OVERFLOW: [431, 'The URL and the headers are too long'],
  HPE_CHUNK_EXTENSIONS_OVERFLOW: [413, 'The body is too large'],
};

/** Something follows a request that its caller has said to be the last one. */
const AFTER_LAST = 'HPE_CLOSED_CONNECTION';

/** Event of the server when it has refused what is no request, with the status. */
export const REFUSED = 'refused';

const refused = new WeakSet<Socket>();

/**
 * Fastify's `clientErrorHandler`, for what Node.js can't read as a request. When it is the body of a request that has no answer
 * yet, its route gives one: with the reason, if it is still to read the body. Anything else is answered after the requests before
 * it, which the caller would take for refused otherwise.
 */
export function answerUnreadable(this: FastifyInstance, error: Error & { code?: string }, socket: Socket) {
  const { code = '' } = error;
  if (code === 'ECONNRESET' || socket.destroyed || refused.has(socket)) return;
  refused.add(socket);
  const [status, message] = byErrorCode[code] ?? [400, 'The request is not valid HTTP'];
  const { last, answeredEarly } = connections.get(socket) ?? NEW;
  const halfRead = [last?.req, answeredEarly].find((request) => request?.complete === false);
  if (last && last.req === halfRead && !last.headersSent) {
    const reason = new HttpError(status, message);
    unreadable.set(halfRead, reason);
    closeAfterAnswer(socket);
    // To destroy it would close the connection.
    if (halfRead.listenerCount('error') > 0) halfRead.emit('error', reason);
    return;
  }
  const refuse = () => {
    // What is half read has an answer and a line of its own, and nothing has either after an answer that closes the connection.
    if (!halfRead && code !== AFTER_LAST && socket.writable) {
      this.log.info({ status, code, ip: socket.remoteAddress }, 'request');
      this.server.emit(REFUSED, status);
      socket.end(asText(status, message));
    }
    socket.destroySoon();
  };
  if (last?.writableFinished === false) last.once('close', refuse);
  else refuse();
}

/**
 * Routes CONNECT, for which Node.js takes the connection away from HTTP, like a request of any other method. It is the last one of
 * its connection, because nothing parses what follows.
 */
export function routeConnect({ server }: FastifyInstance) {
  server.on('connect', (request: IncomingMessage, socket: Socket) => {
    // Node.js has removed its own listeners, and reads no more.
    const destroy = () => socket.destroy();
    socket.on('error', destroy).on('timeout', destroy).resume();
    const connection = connections.get(socket) ?? NEW;
    const { last } = connection;
    const respond = () => {
      if (!socket.writable) return;
      const response = new ServerResponse(request);
      response.shouldKeepAlive = false;
      response.assignSocket(socket);
      response.once('finish', () => socket.destroySoon());
      server.emit('request', request, response);
    };
    if (last?.writableFinished !== false) {
      respond();
      return;
    }
    // A long list waits for this event, which Node.js no longer passes on.
    socket.on('drain', () => connection.current?.emit('drain'));
    last.once('close', respond);
  });
}

/** A whole answer, for a connection that has nothing to make one with. */
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
