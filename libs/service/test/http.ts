import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { createService, type Settings } from '../src/index.ts';

/** Opens a connection to a service for bytes that no client of HTTP would send. */
export const openSocket = (url: string) => connect(Number(new URL(url).port), '127.0.0.1');

/** Sends data at once. @returns all that the service sends until it closes the connection */
export function exchange(url: string, data: string) {
  const socket = openSocket(url);
  socket.write(data);
  return text(socket);
}

/** Sends a GET. @returns status and body */
export async function getJson(url: string): Promise<[status: number, body: unknown]> {
  const response = await fetch(url);
  return [response.status, await response.json()];
}

/** @returns the values in /metrics by name and labels, as they are written there */
export async function scrape(url: string) {
  const lines = (await (await fetch(`${url}/metrics`)).text()).split('\n').filter((line) => !line.startsWith('#'));
  return new Map(
    lines.map((line) => {
      const end = line.lastIndexOf(' ');
      return [line.slice(0, end), Number(line.slice(end + 1))] as const;
    }),
  );
}

/** Starts an app without routes, for tests of what no service has. */
export const createTestApp = (settings: Settings) =>
  createService({ settings, title: 'Test', description: 'A test.', failure: 'Database error', includeCode: true });
