import { LogController, type FastifyReply, type FastifyRequest } from 'fastify';

const probes = new Set(['/livez', '/readyz', '/metrics']);

/** One line per request, when it is over; those that machines ask every few seconds at level debug. */
export class RequestLog extends LogController {
  override incomingRequest() {}

  override requestCompleted(error: Error | null | undefined, request: FastifyRequest, reply: FastifyReply) {
    const line = described(request, reply);
    line.status = reply.statusCode;
    if (error) line.err = error;
    const level = error ? 'error' : probes.has(request.routeOptions.url ?? '') ? 'debug' : 'info';
    reply.log[level](line, 'request');
  }

  /** The connection was closed before the answer was complete: there is no status, or it tells only half. */
  requestAborted(request: FastifyRequest, reply: FastifyReply) {
    const line = described(request, reply);
    line.aborted = true;
    reply.log.info(line, 'request');
  }
}

interface Line {
  method: string;
  url: string;
  ms: number;
  ip: string;
  status?: number;
  aborted?: boolean;
  err?: Error;
}

const described = ({ method, url, ip }: FastifyRequest, { elapsedTime }: FastifyReply): Line => ({
  method,
  url,
  ms: Math.round(elapsedTime * 1_000) / 1_000,
  ip,
});
