import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { browserCaller, plainCaller, type Caller, type PlainRequest, type PlainResponse } from '../http/callers.ts';
import { startService } from '../service/start-service.ts';

/** A request and its response, in which `<time>` stands for each timestamp. */
interface Exchange extends PlainRequest, PlainResponse {
  /** The first and the last of the numbers for which the request is sent: `{number}` stands for them. */
  numbers?: [first: number, last: number];
}

/** Declares the tests that callers get the recorded responses, in the order of the file on an empty database. */
export function testRecordedResponses(main: string, file: string) {
  async function replay(caller: Caller) {
    const service = await startService(main);
    const send = caller(service.url);
    const exchanges = JSON.parse(readFileSync(file, 'utf8')) as Exchange[];
    expect(exchanges.length).toBeGreaterThan(50);
    for (const [index, exchange] of exchanges.entries()) {
      for (const sent of repetitions(exchange)) {
        expectRecorded(`exchange ${index + 1}: ${describeRequest(sent)}`, await send(sent), sent);
      }
    }
    await service.stop();
  }

  describe('Recorded responses', () => {
    test('a plain caller gets the recorded statuses and bodies', () => replay(plainCaller));

    test("the front ends' requests get the recorded statuses and bodies", () => replay(browserCaller));
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

/** @returns the string with `<time>` for each timestamp */
function withoutTimes(response: string): string {
  return response.replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g, '<time>');
}

function describeRequest({ method, path, body = '' }: PlainRequest): string {
  const text = `${method} ${path} ${body}`;
  return text.length > 120 ? `${text.slice(0, 120)}…` : text;
}

/** Compares a list row by row, because Jest prints both sides of a difference whole. */
function expectRecorded(name: string, received: PlainResponse, recorded: PlainResponse) {
  const { status, contentType } = received;
  expect({ name, status, contentType }).toEqual({ name, status: recorded.status, contentType: recorded.contentType });
  const receivedRows = rowsOf(received);
  const recordedRows = rowsOf(recorded);
  for (const [index, row] of receivedRows.entries()) expect([name, row]).toEqual([name, recordedRows[index]]);
  expect([name, receivedRows.length]).toEqual([name, recordedRows.length]);
}

function rowsOf({ response }: PlainResponse): string[] {
  return withoutTimes(response).split(/(?<=\},)/);
}
