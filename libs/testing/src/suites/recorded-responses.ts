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
    const isRecording = process.env.RECORD_RESPONSES === 'true';
    const exchanges = JSON.parse(readFileSync(file, 'utf8')) as Exchange[];
    for (const [index, exchange] of exchanges.entries()) {
      const [first, last] = exchange.numbers ?? [0, 0];
      for (let number = first; number <= last; number += 1) {
        const received = await send(shared.url, withNumber(exchange, number));
        if (isRecording && number === first)
          Object.assign(exchange, received, exchange.numbers && { response: withPlaceholder(received, number) });
        const { status, contentType, response } = withNumber(exchange, number);
        const name = `exchange ${index + 1}: ${exchange.method} ${exchange.path} ${exchange.body ?? ''}`.slice(0, 120);
        expect([name, received]).toEqual([name, { status, contentType, response }]);
      }
    }
    if (isRecording) writeFileSync(file, `${JSON.stringify(exchanges, null, 2)}\n`);
  });
}

const withNumber = (exchange: Exchange, number: number) =>
  JSON.parse(JSON.stringify(exchange).replaceAll('{number}', String(number))) as Exchange;

const withPlaceholder = ({ response }: { response: string }, number: number) =>
  response.replaceAll(String(number), '{number}');

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
