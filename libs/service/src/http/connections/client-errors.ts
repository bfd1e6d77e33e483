import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { HttpError } from '@rest-services/errors';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { clientAddress } from '../headers/proxies.ts';
import { securityHeaders } from '../headers/response-headers.ts';

export const NOT_HTTP = 'The request is not valid HTTP';

/** Responses by error code of Node.js and its parser; any other code means that the bytes are not HTTP. */
const byErrorCode: Record<string, [status: number, message: string]> = {
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'The request has not arrived in time'],
  HPE_HEADER_OVERFLOW: [431, 'The URL and the headers are too long'],
};

/** Event of the server with the status of each response to bytes that are not a request. */
export const REFUSED = 'refused';

/** Responds to bytes that Node.js can't read as a request. A body that it can't read gets the response of its route. */
export function handleClientError(this: FastifyInstance, error: Error & { code?: string }, socket: Socket) {
  const { code = '' } = error;
  if (code === 'ECONNRESET' || !socket.writable) return;
  const [status, message] = byErrorCode[code] ?? [400, NOT_HTTP];
  const response = this.connections.get(socket);
  if (response === undefined) {
    report(this, status, code, socket.remoteAddress);
    socket.end(asText(status, message));
    socket.destroySoon();
  } else if (!response.headersSent) {
    response.setHeader('connection', 'close');
    // destroy() would close the connection.
    if (response.req.listenerCount('error') > 0) response.req.emit('error', new HttpError(status, message));
  } else if (response.writableFinished) socket.destroy();
  else response.once('close', () => socket.destroySoon());
}

/** Responds 400 to a URL that Fastify can't route, such as `/%zz`. */
export function handleUrlError({ code }: { code: string }, { server, ip }: FastifyRequest, reply: FastifyReply) {
  report(server, 400, code, ip);
  void reply.code(400).headers(securityHeaders).send({ message: NOT_HTTP });
}

function report({ log, server }: FastifyInstance, status: number, code: string, ip: string | undefined) {
  log.info({ status, code, ip: clientAddress(ip) }, 'request');
  server.emit(REFUSED, status);
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
