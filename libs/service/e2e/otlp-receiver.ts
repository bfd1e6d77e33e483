import { EventEmitter, on } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';
import protobuf from 'protobufjs';

type Value = string | number | boolean;

interface KeyValue {
  key: string;
  value: { stringValue?: string; boolValue?: boolean; intValue?: number; doubleValue?: number };
}

interface RawSpan {
  attributes?: KeyValue[];
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  kind: number;
  startTimeUnixNano: number;
  endTimeUnixNano: number;
  status?: { code?: number };
}

/** A span whose ids are hexadecimal, as in `traceparent`. */
export interface Span extends Omit<RawSpan, 'attributes'> {
  attributes: { [name: string]: Value };
  resource: { [name: string]: Value };
}

const root = await protobuf.load(join(import.meta.dirname, 'otlp.proto'));
const requestType = root.lookupType('ExportTraceServiceRequest');

/**
 * A receiver of OTLP/HTTP in protobuf.
 * @param respond sends the response to an export
 */
export async function startReceiver(respond = (response: ServerResponse) => void response.end()) {
  const spans: Span[] = [];
  const exports: { headers: NodeJS.Dict<string | string[]> }[] = [];
  const received = new EventEmitter();
  const server = createServer((request, response) => {
    void buffer(request).then((body) => {
      const { headers } = request;
      const message = requestType.decode(headers['content-encoding'] === 'gzip' ? gunzipSync(body) : body);
      const { resourceSpans } = requestType.toObject(message, { longs: Number, bytes: String }) as {
        resourceSpans?: { resource: { attributes?: KeyValue[] }; scopeSpans: { spans: RawSpan[] }[] }[];
      };
      for (const { resource, scopeSpans } of resourceSpans ?? [])
        for (const span of scopeSpans.flatMap((scope) => scope.spans))
          spans.push({
            ...span,
            traceId: hex(span.traceId),
            spanId: hex(span.spanId),
            ...(span.parentSpanId ? { parentSpanId: hex(span.parentSpanId) } : {}),
            attributes: objectOf(span.attributes),
            resource: objectOf(resource.attributes),
          });
      exports.push({ headers });
      received.emit('export');
      respond(response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));

  /** Waits for an export after which `find` returns something. */
  async function find<Found>(find: () => Found | undefined): Promise<Found> {
    const more = on(received, 'export');
    let found = find();
    while (found === undefined) {
      await more.next();
      found = find();
    }
    void more.return?.();
    return found;
  }

  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    exports,
    find,
    close() {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Values of attributes by their names. */
const objectOf = (attributes: KeyValue[] = []) =>
  Object.fromEntries<Value>(attributes.map(({ key, value }) => [key, Object.values(value)[0] as Value]));

const hex = (base64: string) => Buffer.from(base64, 'base64').toString('hex');
