import { Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';

/**
 * Answers a JSON array. One chunk is an ordinary answer; more are streamed as fast as the reader takes them, so that
 * memory holds a chunk or two of an answer of any length. A failure after the first chunk cuts the connection, since
 * the status has been sent by then.
 * @throws whatever the first chunk throws
 */
export async function sendRows<Row>(reply: FastifyReply, chunks: AsyncGenerator<Row[], void, undefined>) {
  const first = await chunks.next();
  const second = await chunks.next();
  if (second.done) return reply.send(first.value);

  const serialise = reply.getSerializationFunction('200') ?? JSON.stringify;
  const elements = (rows: Row[]) => serialise(rows).slice(1, -1);
  async function* text() {
    yield `[${elements(first.value!)},${elements(second.value!)}`;
    for await (const rows of chunks) yield `,${elements(rows)}`;
    yield ']';
  }
  const body = reply.request.method === 'HEAD' ? [] : text();
  return reply.type('application/json; charset=utf-8').send(Readable.from(body));
}
