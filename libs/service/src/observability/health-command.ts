import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';

const TIMEOUT_MS = 2_000;

/** Whether the service with these settings responds 200 to `/livez`: the health check of a container, which has no curl. */
export async function isAlive({ HOST, PORT }: NodeJS.ProcessEnv, defaultPort: number): Promise<boolean> {
  const isAnyAddress = !HOST || HOST === '::' || HOST === '0.0.0.0';
  try {
    // Not fetch, which refuses some ports.
    const host = isAnyAddress ? '127.0.0.1' : HOST;
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    const request = get({ host, port: PORT || defaultPort, path: '/livez', signal });
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    return response.statusCode === 200;
  } catch {
    return false;
  }
}
