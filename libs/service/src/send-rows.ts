import { Readable } from 'node:stream';
import { CHUNK_ROWS, type LongList } from '@rest-services/database';
import type { FastifyReply } from 'fastify';

/** Requests that share a statement share its rows, which are then turned into text once for all of them. */
const texts = new WeakMap<readonly unknown[], string>();

/**
 * Answers a JSON array. Less than a whole chunk of rows is an ordinary answer; more are streamed as fast as the reader
 * takes them, so that memory holds a chunk or two of an answer of any length. A failure after the first chunk cuts the
 * connection, since the status has been sent by then.
 */
export function sendRows<Row>(reply: FastifyReply, { first, rest }: LongList<Row>) {
  const serialise = reply.getSerializationFunction('200') ?? JSON.stringify;
  void reply.type('application/json; charset=utf-8');
  if (first.length < CHUNK_ROWS) {
    const text = texts.get(first) ?? serialise(first);
    texts.set(first, text);
    return reply.send(text);
  }

  const elements = (chunk: readonly Row[]) => serialise(chunk).slice(1, -1);
  async function* text() {
    yield `[${elements(first)}`;
    for await (const chunk of rest) yield `,${elements(chunk)}`;
    yield ']';
  }
  const body = reply.request.method === 'HEAD' ? [] : text();
  return reply.send(Readable.from(body));
}
