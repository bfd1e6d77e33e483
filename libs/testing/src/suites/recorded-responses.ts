import { readFileSync, writeFileSync } from 'node:fs';
import { request, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { expect, test } from '@jest/globals';
import type { SharedProcess } from '../service/processes.ts';

/** A request, and the response to it, in which `<time>` stands for each timestamp. */
interface Exchange {
  method: string;
  path: string;
  headers?: Record<string, string>;
  body?: string;
  /** Length of a body of blanks, for one that is too long to be written down. */
  bodyLength?: number;
  /** The first and the last of the numbers for which the request is sent: `{number}` stands for them. */
  numbers?: [first: number, last: number];
  status: number;
  contentType: string | null;
  response: string;
}

/**
 * Declares the test that the requests of a file get its responses, in their order and with empty tables.
 * `RECORD_RESPONSES=true` writes the responses to the file instead.
 */
export function testRecordedResponses(shared: SharedProcess, file: string) {
  test('a caller gets the recorded statuses and bodies', async () => {
    const exchanges = JSON.parse(readFileSync(file, 'utf8')) as Exchange[];
    expect(exchanges.length).toBeGreaterThan(50);
    const received: Exchange[] = [];
    for (const [index, exchange] of exchanges.entries()) {
      const [recorded, ...repeated] = repetitions(exchange);
      const responses = [await send(shared.url, recorded!)];
      for (const each of repeated) responses.push(await send(shared.url, each));
      received.push({ ...exchange, ...(exchange.numbers ? {} : responses[0]) });
      if (process.env.RECORD_RESPONSES === 'true') continue;
      for (const [turn, each] of [recorded!, ...repeated].entries()) {
        const { status, contentType, response } = each;
        const name = `exchange ${index + 1}: ${each.method} ${each.path} ${each.body ?? ''}`.slice(0, 120);
        expect([name, responses[turn]]).toEqual([name, { status, contentType, response }]);
      }
    }
    if (process.env.RECORD_RESPONSES === 'true') writeFileSync(file, `${JSON.stringify(received, null, 2)}\n`);
  });
}

/** The exchange for each of its numbers. */
function repetitions(exchange: Exchange): Exchange[] {
  if (!exchange.numbers) return [exchange];
  const [first, last] = exchange.numbers;
  const template = JSON.stringify(exchange);
  return Array.from({ length: last - first + 1 }, (_, index) => {
    return JSON.parse(template.replaceAll('{number}', String(first + index))) as Exchange;
  });
}

async function send(url: string, { method, path, headers, body, bodyLength = 0 }: Exchange) {
  const bytes = Buffer.from(body ?? ' '.repeat(bodyLength));
  const length = bytes.length > 0 && { 'content-length': bytes.length };
  const { hostname, port } = new URL(url);
  // A path of its own, because URLs are normalised.
  const outgoing = request({ hostname, port, method, path, headers: { ...headers, ...length } });
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    outgoing.on('response', resolve).on('error', reject).end(bytes);
  });
  return {
    status: response.statusCode!,
    contentType: response.headers['content-type'] ?? null,
    response: (await text(response)).replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g, '<time>'),
  };
}
