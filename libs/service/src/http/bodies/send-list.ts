import { Readable } from 'node:stream';
import type { List } from '@rest-services/database';
import { OverloadedError } from '@rest-services/errors';
import type { FastifyReply } from 'fastify';
import { isUnmodified, weakTagOf } from '../headers/entity-tags.ts';
import { streamChunks, type JsonChunk } from './list-stream.ts';

/** JSON of the lists in memory, made once for all requests that share a list. */
const jsonOf = new WeakMap<object, string>();

/**
 * Responds with a JSON array. A list of several chunks is streamed as fast as the client reads, so that memory holds a chunk of it;
 * a failure after the first chunk closes the connection, because the status has been sent.
 * @throws OverloadedError when the list has several chunks and the memory for bodies is full
 */
export function sendList<Row>(reply: FastifyReply, list: List<Row>) {
  const serialise = reply.getSerializationFunction('200') ?? JSON.stringify;
  void reply.type('application/json; charset=utf-8');
  if (!list.next) {
    const json = jsonOf.get(list) ?? serialise(list.rows);
    jsonOf.set(list, json);
    return reply.send(json);
  }
  if (list.version !== undefined && isUnmodified(reply, weakTagOf(list.version))) {
    reply.code(304).removeHeader('content-type');
    return reply.send();
  }
  // Fastify reads a stream without backpressure for HEAD.
  if (reply.request.method === 'HEAD') return reply.send(Readable.from([]));
  // Fastify would log a stream that ends before its first chunk as a failure of the service.
  if (reply.raw.destroyed) return reply.send('');

  if (reply.server.bodyMemory.isFull) throw new OverloadedError('memory');
  const jsonChunkOf = ({ rows, next }: List<Row>, start = rows.length > 0 ? ',' : ''): JsonChunk => ({
    bytes: Buffer.from(start + serialise(rows).slice(1, -1)),
    next: next && (async () => jsonChunkOf(await next())),
  });
  return reply.send(streamChunks(reply, jsonChunkOf(list, '[')));
}
