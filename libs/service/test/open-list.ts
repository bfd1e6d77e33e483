import { once } from 'node:events';
import { get, type Agent, type IncomingMessage } from 'node:http';

/**
 * Requests a list, again while the service is too busy for it.
 * @returns the response, of which only the headers have been read
 */
export async function openList(url: string, agent: Agent | false = false) {
  for (;;) {
    const [response] = (await once(get(url, { agent }), 'response')) as [IncomingMessage];
    if (response.statusCode !== 503) return response;
    response.resume();
  }
}
