import { hostname } from 'node:os';
import fastJsonStringify from 'fast-json-stringify';
import { LogController, type FastifyReply, type FastifyRequest } from 'fastify';
import { levels } from 'pino';
import { Type, type Static } from 'typebox';
import { logStream } from './log-stream.ts';

const Line = Type.Object({
  method: Type.String(),
  url: Type.String(),
  ms: Type.Number(),
  // Unknown when the caller has reset the connection meanwhile.
  ip: Type.Optional(Type.String()),
  status: Type.Optional(Type.Integer()),
});
type Line = Static<typeof Line>;

const INFO = levels.values.info!;

/** The text that pino would make of a line. Pino looks at each line as if it was the first, which takes twice as long. */
const textOf = fastJsonStringify(
  Type.Object({
    level: Type.Integer({ default: INFO }),
    time: Type.Integer(),
    pid: Type.Integer({ default: process.pid }),
    hostname: Type.String({ default: hostname() }),
    reqId: Type.String(),
    ...Line.properties,
    msg: Type.String({ default: 'request' }),
  }),
);

/** One line per request, when it is over; for those of machines, which come every few seconds, at level debug. */
export class RequestLog extends LogController {
  readonly #logsInfo: boolean;

  constructor(level: string) {
    super();
    this.#logsInfo = (levels.values[level] ?? Infinity) <= INFO;
  }

  override incomingRequest() {}

  override requestCompleted(error: Error | null | undefined, request: FastifyRequest, reply: FastifyReply) {
    const line = described(request, reply);
    line.status = reply.statusCode;
    if (error) reply.log.error({ ...line, err: error }, 'request');
    else if (request.routeOptions.config.isForMachines) reply.log.debug(line, 'request');
    else if (this.#logsInfo) {
      const whole = { time: Date.now(), reqId: request.id, ...line };
      logStream.writeLater(() => `${textOf(whole)}\n`);
    }
  }

  /** The connection was closed before the answer was complete: there is no status, or it tells only half. */
  requestAborted(request: FastifyRequest, reply: FastifyReply) {
    reply.log.info({ ...described(request, reply), aborted: true }, 'request');
  }

  override streamError(error: Error & { code?: string }, request: FastifyRequest, reply: FastifyReply) {
    // That a reader has left is said by the line of the request.
    if (error.code !== 'ERR_STREAM_PREMATURE_CLOSE') super.streamError(error, request, reply);
  }
}

const described = ({ method, url, ip }: FastifyRequest, { elapsedTime }: FastifyReply): Line => ({
  method,
  url,
  ms: Math.round(elapsedTime * 1_000) / 1_000,
  ip,
});
