import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { expect } from '@jest/globals';
import { openSocket } from './http.ts';

/** Requests a list. @returns the response, of which only the headers have been read */
export async function openList(url: string, coding = 'identity') {
  const sent = get(url, { agent: false, headers: { 'accept-encoding': coding } });
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  // A reset is an error of both.
  sent.on('error', () => undefined);
  expect(response.statusCode).toBe(200);
  return response;
}

/**
 * Requests a list over HTTP/1.0, in which the end of the connection is that of the body.
 * @returns when a part has arrived: the socket, and the code of the error with which it ends, or `undefined` for a whole list
 */
export async function openOverHttp10(url: string, coding = 'identity') {
  const { pathname, search } = new URL(url);
  const reader = openSocket(url);
  const ended = new Promise<string | undefined>((resolve) => {
    reader.on('error', ({ code }: NodeJS.ErrnoException) => resolve(code)).on('close', () => resolve(undefined));
  });
  reader.write(`GET ${pathname}${search} HTTP/1.0\r\naccept-encoding: ${coding}\r\n\r\n`);
  await once(reader, 'readable');
  return { reader, ended };
}
