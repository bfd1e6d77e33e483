import { Readable } from 'node:stream';
import type { LongList } from '@rest-services/database';
import { overloaded } from '@rest-services/errors';
import type { FastifyReply } from 'fastify';
import type { BodyMemory } from './body-memory.ts';

/** Requests that share a statement share its rows, which are then turned into text once for all of them. */
const texts = new WeakMap<readonly unknown[], string>();

/** What is written at once: of what its reader does not take, the system keeps a copy. */
const PIECE_BYTES = 64 * 1_024;

/**
 * Answers a JSON array. A single chunk of rows is an ordinary answer; more are streamed as fast as the reader takes them,
 * so that memory holds a chunk of an answer of any length. A failure after the first chunk cuts the connection, since the
 * status has been sent by then.
 * @throws HttpError 503 when there is more than one chunk, and no memory for it
 */
export function sendRows<Row>(reply: FastifyReply, list: LongList<Row>) {
  const serialise = reply.getSerializationFunction('200') ?? JSON.stringify;
  void reply.type('application/json; charset=utf-8');
  if (!list.next) {
    const text = texts.get(list.rows) ?? serialise(list.rows);
    texts.set(list.rows, text);
    return reply.send(text);
  }
  if (reply.request.method === 'HEAD') return reply.send(Readable.from([]));
  // Its reader has left. A stream that ends before it has begun would be taken for a failure of the service.
  if (reply.raw.destroyed) return reply.send('');

  const { bodyMemory } = reply.server;
  if (bodyMemory.isFull) throw overloaded();
  const encoded = (open: string, { rows, next }: LongList<Row>): Chunk => {
    const elements = serialise(rows).slice(1, -1);
    return {
      bytes: Buffer.from(elements && open + elements),
      next: next && (async () => encoded(',', await next())),
    };
  };
  return reply.send(Readable.from(inPieces(encoded('[', list), bodyMemory, () => reply.raw.destroyed)));
}

/** A chunk of a list as text. It does not keep the rows, which may be as large. */
interface Chunk {
  bytes: Buffer;
  next: (() => Promise<Chunk>) | undefined;
}

const NOTHING: Chunk = { bytes: Buffer.alloc(0), next: undefined };

async function* inPieces(chunk: Chunk, memory: BodyMemory, hasLeft: () => boolean) {
  try {
    for (;;) {
      const { length } = chunk.bytes;
      memory.hold(length);
      try {
        for (let at = 0; at < length; at += PIECE_BYTES) yield chunk.bytes.subarray(at, at + PIECE_BYTES);
      } finally {
        memory.release(length);
      }
      const { next } = chunk;
      if (!next) break;
      // It is not counted any more, and must not be kept.
      chunk = NOTHING;
      await memory.waitForRoom();
      if (hasLeft()) return;
      chunk = await next();
    }
    yield ']';
  } finally {
    // The next list that waits for room goes on, if there is some.
    memory.release(0);
  }
}
