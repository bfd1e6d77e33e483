import { setTimeout as sleep } from 'node:timers/promises';
import { checkViolations } from '../service/proxy.ts';

/** Delay before a retry: shorter than the Retry-After of 1 s, because tests send few requests. */
const RETRY_DELAY_MS = 250;

/** Maximum number of retries: 30 s are more than a busy machine needs for one request. */
const MAX_RETRIES = 120;

/** Fetches like `fetch`, and retries while the service is overloaded, as it may be on a busy machine. */
export async function fetchWhenServed(url: string | URL, init?: RequestInit): Promise<Response> {
  return whenServed(
    () => fetch(url, init),
    async (response) => {
      checkViolations(response);
      const isOverloaded = response.status === 503 && response.headers.has('retry-after');
      if (isOverloaded) await response.arrayBuffer();
      return isOverloaded;
    },
  );
}

/** Sends a request, and retries while the service is overloaded. */
export async function whenServed<Received>(
  send: () => Promise<Received>,
  isOverloaded: (response: Received) => boolean | Promise<boolean>,
): Promise<Received> {
  for (let retries = 0; ; retries += 1) {
    const response = await send();
    if (!(await isOverloaded(response)) || retries === MAX_RETRIES) return response;
    await sleep(RETRY_DELAY_MS);
  }
}
