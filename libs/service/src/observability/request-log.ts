import { LogController, type FastifyReply, type FastifyRequest } from 'fastify';
import fp from 'fastify-plugin';
import { stdSerializers } from 'pino';
import { clientAddress } from '../http/headers/proxies.ts';
import { traceIds } from './telemetry/request-spans.ts';

/** Logs one line per finished request; those of probes, every few seconds, at level debug. */
export class RequestLog extends LogController {
  override incomingRequest() {}

  override requestCompleted(error: Error | null | undefined, request: FastifyRequest, reply: FastifyReply) {
    const finished = described(request, reply);
    if (error) reply.log.error({ ...idsOf(request), ...finished, err: error }, 'request');
    else reply.log[levelOf(request)](finished, 'request');
  }

  override streamError(error: Error & { code?: string }, request: FastifyRequest, reply: FastifyReply) {
    // The line of the request says that its client has left.
    if (error.code !== 'ERR_STREAM_PREMATURE_CLOSE') super.streamError(error, request, reply);
  }
}

/** Logs each request whose connection closed before its response was complete, without the status of that half. */
export const abortLog = fp(
  (app, _options, done) => {
    app.abortListeners.push((request, reply) =>
      reply.log[levelOf(request)](
        { ...idsOf(request), ...described(request, reply), status: undefined, aborted: true },
        'request',
      ),
    );
    done();
  },
  { name: 'abort log', dependencies: ['connections'] },
);

/** As pino does, but for the numbers that esbuild gives to the classes of one name: `DatabaseError2`. */
export function describeError(error: Error) {
  const described = stdSerializers.err(error);
  return { ...described, type: described.type.replace(/\d+$/, '') };
}

const levelOf = ({ routeOptions }: FastifyRequest) => (routeOptions.config.isForMachines ? 'debug' : 'info');

/** The event of a connection, such as its end, has no context of a request. */
const idsOf = ({ span }: FastifyRequest) => (span ? traceIds(span) : {});

/** Fields of a request's line. The address is unknown where the client had reset the connection before the service took it. */
const described = (
  { method, url, ip, overloadReason: reason }: FastifyRequest,
  { elapsedTime, statusCode }: FastifyReply,
) => ({
  method,
  url,
  // Rounded to numbers whose strings V8 has cached.
  ms: Math.round(elapsedTime * 100) / 100,
  ip: clientAddress(ip as string | undefined),
  status: statusCode,
  reason,
});
