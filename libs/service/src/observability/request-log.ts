import { hostname } from 'node:os';
import { LogController, type FastifyReply, type FastifyRequest } from 'fastify';
import { levels } from 'pino';
import { logStream } from './log-stream.ts';

const INFO = levels.values.info!;
const PROCESS = `"pid":${process.pid},"hostname":${JSON.stringify(hostname())}`;

/** One line per request, when it is over; for those of machines, which come every few seconds, at level debug. */
export class RequestLog extends LogController {
  readonly #logsInfo: boolean;

  constructor(level: string) {
    super();
    this.#logsInfo = (levels.values[level] ?? Infinity) <= INFO;
  }

  override incomingRequest() {}

  override requestCompleted(error: Error | null | undefined, request: FastifyRequest, reply: FastifyReply) {
    const finished = described(request, reply);
    if (error) reply.log.error({ ...finished, err: error }, 'request');
    else if (request.routeOptions.config.isForMachines) reply.log.debug(finished, 'request');
    else if (this.#logsInfo) logStream.writeLater(new Line(request.id, finished));
  }

  /** The connection was closed before the answer was complete: there is no status, or it tells only half. */
  requestAborted(request: FastifyRequest, reply: FastifyReply) {
    const level = request.routeOptions.config.isForMachines ? 'debug' : 'info';
    reply.log[level]({ ...described(request, reply), status: undefined, aborted: true }, 'request');
  }

  override streamError(error: Error & { code?: string }, request: FastifyRequest, reply: FastifyReply) {
    // That a reader has left is said by the line of the request.
    if (error.code !== 'ERR_STREAM_PREMATURE_CLOSE') super.streamError(error, request, reply);
  }
}

/** The address is unknown when the caller has reset the connection meanwhile. */
const described = ({ method, url, ip }: FastifyRequest, { elapsedTime, statusCode }: FastifyReply) => ({
  method,
  url,
  // Of so few different numbers, V8 has kept the texts.
  ms: Math.round(elapsedTime * 100) / 100,
  ip: ip as string | undefined,
  status: statusCode,
});

/** The line that pino would write, which looks at each as if it was the first. Its text is made when it is written. */
class Line {
  readonly #time = Date.now();
  readonly #reqId: string;
  readonly #finished: ReturnType<typeof described>;

  constructor(reqId: string, finished: ReturnType<typeof described>) {
    this.#reqId = reqId;
    this.#finished = finished;
  }

  toString() {
    const { method, url, ms, ip, status } = this.#finished;
    const request = `"reqId":${JSON.stringify(this.#reqId)},"method":"${method}","url":${JSON.stringify(url)}`;
    const answer = `"ms":${ms},${ip === undefined ? '' : `"ip":"${ip}",`}"status":${status}`;
    return `{"level":${INFO},"time":${this.#time},${PROCESS},${request},${answer},"msg":"request"}\n`;
  }
}
