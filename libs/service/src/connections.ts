import { STATUS_CODES, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { securityHeaders } from './security-headers.ts';

/** A request and its answer. */
interface Exchange {
  response: ServerResponse;
  /** Whether a request that changes nothing may be answered at the same time. */
  mayBeJoined: boolean;
  /** The one before, if it is not over; not kept longer than until the next request begins. */
  earlier: Exchange | undefined;
}

/** So many requests of one connection may wait for the answer to the one before; no client sends more at a time. */
const MAX_PIPELINED = 50;

interface Connection {
  last: Exchange | undefined;
  /** Requests that came before the answer to the one before, and are not answered yet. */
  pipelined: number;
}

const connections = new WeakMap<Socket, Connection>();

const changesNothing = ({ method }: FastifyRequest) => method === 'GET' || method === 'HEAD';

/**
 * What is sent on a connection without waiting for answers takes effect in its order, as RFC 9112 (9.3.2, 9.6) has it: only
 * requests that change nothing are answered at the same time, and none after an answer that closes the connection. A
 * connection with more of them than anybody sends is cut: Node.js would read them as fast as they come, into the memory.
 */
export function keepOrder(app: FastifyInstance) {
  app.addHook('onRequest', (request, { raw: response }, done) => {
    const { socket } = request.raw;
    let connection = connections.get(socket);
    if (!connection) connections.set(socket, (connection = { last: undefined, pipelined: 0 }));
    const earlier = connection.last?.response.writableFinished === false ? connection.last : undefined;
    if (earlier) {
      earlier.earlier = undefined;
      connection.pipelined += 1;
      response.once('close', () => (connection.pipelined -= 1));
      if (connection.pipelined > MAX_PIPELINED) socket.destroy();
    }
    const isSafe = changesNothing(request);
    const waits = earlier !== undefined && !(isSafe && earlier.mayBeJoined);
    connection.last = { response, mayBeJoined: isSafe && !waits, earlier };
    const goOn = () => {
      if (socket.writable) done();
    };
    if (waits) earlier.response.once('close', goOn);
    else goOn();
  });
}

/** By error code of Node.js or its parser; anything else is no HTTP. */
const refusals: Record<string, [status: number, message: string]> = {
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'The request has not arrived in time'],
  HPE_HEADER_OVERFLOW: [431, 'The URL and the headers are too long'],
  HPE_CHUNK_EXTENSIONS_OVERFLOW: [413, 'The body is too large'],
};

const refused = new WeakSet<Socket>();

/**
 * Fastify's `clientErrorHandler`, for what Node.js can't read as a request. It is answered after the requests before it, which
 * the caller would take for refused otherwise, and not in the middle of an answer.
 */
export function answerUnreadable(this: FastifyInstance, error: Error & { code?: string }, socket: Socket) {
  if (error.code === 'ECONNRESET' || socket.destroyed || refused.has(socket)) return;
  refused.add(socket);
  const [status, message] = refusals[error.code ?? ''] ?? [400, 'The request is not valid HTTP'];
  this.log.info({ status, code: error.code, ip: socket.remoteAddress }, 'request');
  const last = connections.get(socket)?.last;
  // Otherwise it is the body of the last one that can't be read.
  const isBetweenRequests = last?.response.req.complete;
  const before = isBetweenRequests ? last : last?.earlier;
  const refuse = () => {
    const isAnswering = !isBetweenRequests && last?.response.headersSent && !last.response.writableFinished;
    if (socket.writable && !isAnswering) socket.end(asText(status, message));
    socket.destroySoon();
  };
  if (before?.response.writableFinished === false) before.response.once('close', refuse);
  else refuse();
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
