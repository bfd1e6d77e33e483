import { LogController, type FastifyReply, type FastifyRequest } from 'fastify';

const probes = new Set(['/livez', '/readyz', '/metrics']);

/** One line per request, when it has been answered; those that machines ask every few seconds at level debug. */
export class RequestLog extends LogController {
  override incomingRequest() {}

  override requestCompleted(error: Error | null | undefined, request: FastifyRequest, reply: FastifyReply) {
    const level = error ? 'error' : probes.has(request.url) ? 'debug' : 'info';
    const { method, url, ip } = request;
    reply.log[level](
      {
        method,
        url,
        status: reply.statusCode,
        ms: Math.round(reply.elapsedTime * 1_000) / 1_000,
        ip,
        ...(error ? { err: error } : {}),
      },
      'request',
    );
  }
}
