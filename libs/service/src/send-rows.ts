import { Readable } from 'node:stream';
import { CHUNK_ROWS } from '@rest-services/database';
import type { FastifyReply } from 'fastify';

/**
 * Answers a JSON array. Less than a whole chunk is an ordinary answer; more is streamed as fast as the reader takes them, so that
 * memory holds a chunk or two of an answer of any length. A failure after the first chunk cuts the connection, since
 * the status has been sent by then.
 * @throws whatever the first chunk throws
 */
export async function sendRows<Row>(reply: FastifyReply, chunks: AsyncGenerator<Row[], void, undefined>) {
  const first = await chunks.next();
  const rows = first.value ?? [];
  if (rows.length < CHUNK_ROWS) return reply.send(rows);

  const serialise = reply.getSerializationFunction('200') ?? JSON.stringify;
  const elements = (chunk: Row[]) => serialise(chunk).slice(1, -1);
  async function* text() {
    yield `[${elements(rows)}`;
    for await (const chunk of chunks) yield `,${elements(chunk)}`;
    yield ']';
  }
  const body = reply.request.method === 'HEAD' ? [] : text();
  return reply.type('application/json; charset=utf-8').send(Readable.from(body));
}
