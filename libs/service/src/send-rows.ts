import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import type { LongList } from '@rest-services/database';
import { isOverload, overloaded } from '@rest-services/errors';
import type { FastifyReply } from 'fastify';
import pLimit from 'p-limit';
import type { BodyMemory } from './body-memory.ts';

/** Requests that share a statement share its rows, which are then turned into text once for all of them. */
const texts = new WeakMap<readonly unknown[], string>();

/** The same for the begins of longer lists, of which those that share one may go on differently. */
const begins = new WeakMap<readonly unknown[], Begin>();

/** Lists that have begun leave most of the usual ten connections to requests that have no answer yet, and wait for each other. */
const inTurn = pLimit(4);

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
  const elements = (rows: readonly Row[]) => serialise(rows).slice(1, -1);
  const asText = ({ rows, next }: LongList<Row>): Chunk => ({
    bytes: Buffer.from(rows.length > 0 ? `,${elements(rows)}` : ''),
    next: next && (async () => asText(await next())),
  });
  const { rows, next } = list;
  const begin = begins.get(rows) ?? { bytes: Buffer.from(`[${elements(rows)}`), readers: 0 };
  begins.set(rows, begin);
  const release = holdBegin(begin, bodyMemory);
  const first = { bytes: begin.bytes, next: async () => asText(await next()) };
  const stream = Readable.from(inPieces(first, bodyMemory, release, () => reply.raw.destroyed));
  // Also of one that is never read.
  stream.once('close', release);
  return reply.send(stream);
}

/** A chunk of a list as text. It does not keep the rows, which may be as large. */
interface Chunk {
  bytes: Buffer;
  next: (() => Promise<Chunk>) | undefined;
}

interface Begin {
  bytes: Buffer;
  /** Those who have not taken it yet. */
  readers: number;
}

/** @returns what is to be called, once or more, when its reader has taken it or has left */
function holdBegin(begin: Begin, memory: BodyMemory) {
  const { length } = begin.bytes;
  if (begin.readers === 0) memory.hold(length);
  begin.readers += 1;
  let held: Begin | undefined = begin;
  return () => {
    if (!held) return;
    held.readers -= 1;
    if (held.readers === 0) memory.release(length);
    held = undefined;
  };
}

const NOTHING = Buffer.alloc(0);

/** @param release gives back the memory of the first chunk, which is held already */
async function* inPieces(chunk: Chunk, memory: BodyMemory, release: () => void, hasLeft: () => boolean) {
  for (;;) {
    const { length } = chunk.bytes;
    const { next } = chunk;
    try {
      for (let at = 0; at < length; at += PIECE_BYTES) yield chunk.bytes.subarray(at, at + PIECE_BYTES);
    } finally {
      release();
    }
    if (!next) break;
    // It is not counted any more, and must not be kept, as a generator may keep whatever it has had.
    chunk.bytes = NOTHING;
    const read = await patiently(async () => (hasLeft() ? undefined : readNext(next, length, memory)));
    if (!read) return;
    chunk = read;
    const held = chunk.bytes.length;
    release = () => memory.release(held);
  }
  yield ']';
}

/** So much later a list that has begun asks again for what there was no connection for. */
const PAUSE_MS = 100;

/** Time after which a list that has begun is aborted because the database does not get to its next chunk. */
const MAX_RETRIES_MS = 30_000;

/** Retries what overload prevents, because a client that has the first chunk of a list can't be told to try again. */
async function patiently<Result>(
  read: () => Promise<Result>,
  deadline = performance.now() + MAX_RETRIES_MS,
): Promise<Result> {
  try {
    return await inTurn(read);
  } catch (error) {
    if (!isOverload(error) || performance.now() > deadline) throw error;
    await sleep(PAUSE_MS);
    return patiently(read, deadline);
  }
}

/**
 * Waits for room in the memory. Nobody knows how large the next chunk is: those that are read at once may be too much.
 * @param length of the chunk before it
 * @returns the next chunk, which is held
 */
async function readNext(next: () => Promise<Chunk>, length: number, memory: BodyMemory) {
  await memory.holdWhenThereIsRoom(length);
  try {
    const chunk = await next();
    memory.hold(chunk.bytes.length);
    return chunk;
  } finally {
    memory.release(length);
  }
}
