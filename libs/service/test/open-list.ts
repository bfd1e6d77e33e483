import { once } from 'node:events';
import { get, type Agent, type IncomingMessage } from 'node:http';
import { expect } from '@jest/globals';

/** Requests a list. @returns the response, of which only the headers have been read */
export async function openList(url: string, agent: Agent | false = false) {
  const [response] = (await once(get(url, { agent }), 'response')) as [IncomingMessage];
  expect(response.statusCode).toBe(200);
  return response;
}
