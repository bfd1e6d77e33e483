import { hostname } from 'node:os';
import { LogController, type FastifyBaseLogger, type FastifyReply, type FastifyRequest } from 'fastify';
import { levels } from 'pino';
import { clientAddress } from '../http/proxies.ts';
import { logStream } from './log-stream.ts';
import { traceIds } from './telemetry/request-spans.ts';

const INFO = levels.values.info!;
const PROCESS = `"pid":${process.pid},"hostname":${JSON.stringify(hostname())}`;

/** Logs one line per finished request; those of probes, every few seconds, at level debug. */
export class RequestLog extends LogController {
  override incomingRequest() {}

  override requestCompleted(error: Error | null | undefined, request: FastifyRequest, reply: FastifyReply) {
    const finished = described(request, reply);
    if (error) reply.log.error({ ...idsOf(request), ...finished, err: error }, 'request');
    else if (request.routeOptions.config.isForMachines) reply.log.debug(finished, 'request');
    else if (isInfoLogged(reply.log)) logStream.writeLater(new Line(request, finished));
  }

  /** Logs a request whose connection closed before its response was complete, without the status of that half. */
  requestAborted(request: FastifyRequest, reply: FastifyReply) {
    const level = request.routeOptions.config.isForMachines ? 'debug' : 'info';
    reply.log[level]({ ...idsOf(request), ...described(request, reply), status: undefined, aborted: true }, 'request');
  }

  override streamError(error: Error & { code?: string }, request: FastifyRequest, reply: FastifyReply) {
    // The line of the request says that its client has left.
    if (error.code !== 'ERR_STREAM_PREMATURE_CLOSE') super.streamError(error, request, reply);
  }
}

/** Asks the logger each time, because its level changes while the service runs. */
const isInfoLogged = ({ level }: FastifyBaseLogger) => (levels.values[level] ?? Infinity) <= INFO;

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

/** The line that pino writes, without its work per field. It becomes a string when it is written. */
class Line {
  readonly #time = Date.now();
  readonly #reqId: string;
  readonly #span: FastifyRequest['span'];
  readonly #finished: ReturnType<typeof described>;

  constructor({ id, span }: FastifyRequest, finished: ReturnType<typeof described>) {
    this.#reqId = id;
    this.#span = span;
    this.#finished = finished;
  }

  toString() {
    const { method, url, ms, ip, status, reason } = this.#finished;
    const trace = this.#span === null ? '' : `${JSON.stringify(traceIds(this.#span)).slice(1, -1)},`;
    const request = `"reqId":${JSON.stringify(this.#reqId)},${trace}"method":"${method}","url":${JSON.stringify(url)}`;
    const answer = `"ms":${ms},${ip === undefined ? '' : `"ip":${JSON.stringify(ip)},`}"status":${status}`;
    const cause = reason === undefined ? '' : `,"reason":"${reason}"`;
    return `{"level":${INFO},"time":${this.#time},${PROCESS},${request},${answer}${cause},"msg":"request"}\n`;
  }
}
