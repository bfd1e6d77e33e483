/** Maximum `Retry-After` that `fetchWithRetries` waits for. A response that says more is the caller's. */
const MAX_RETRY_AFTER_MS = 30_000;

/** Delay before the first retry of a lost request. Each further one doubles it. */
const LOST_DELAY_MS = 500;

/** Maximum delay between retries of a lost request. */
const MAX_LOST_DELAY_MS = 4_000;

/** A lost PUT or DELETE is not retried, because another client may have changed the record after it was done. */
const RETRIED_WHEN_LOST = ['GET', 'HEAD', 'POST'];

interface Limits {
  maxRetries: number;
  maxDelayMs: number;
  /** Time by `performance.now()` at which the last retry begins. */
  deadline: number;
}

/**
 * Fetches like `fetch`, and retries up to three times: any request after a 503 with `Retry-After`, and GET, HEAD and POST when
 * no response arrives. Each POST gets an `Idempotency-Key`, so that a retry creates nothing a second time.
 */
export const fetchWithRetries: typeof fetch = (input, init) =>
  retry(input, init, { maxRetries: 3, maxDelayMs: MAX_RETRY_AFTER_MS, deadline: Infinity });

/** Makes a `fetchWithRetries` that retries for this time instead of three times: longer than a service takes to restart. */
export const retryFor =
  (ms: number): typeof fetch =>
  (input, init) =>
    retry(input, init, { maxRetries: Infinity, maxDelayMs: Infinity, deadline: performance.now() + ms });

async function retry(...[input, init, { maxRetries, maxDelayMs, deadline }]: [...Parameters<typeof fetch>, Limits]) {
  const request = new Request(input, init);
  const { method, headers, signal } = request;
  const isPost = method === 'POST';
  if (isPost && !headers.has('idempotency-key')) headers.set('idempotency-key', randomKey());

  for (let retries = 0; ; retries += 1) {
    const mayRetry = (delayMs: number) =>
      retries < maxRetries && delayMs <= maxDelayMs && performance.now() + delayMs <= deadline;
    let delayMs;
    try {
      const response = await fetch(request.clone());
      // Read here, because a response is also lost when the connection closes within its body.
      if (isPost) await response.clone().arrayBuffer();
      delayMs = response.status === 503 ? retryAfterMs(response) : NaN;
      if (!mayRetry(delayMs)) return response;
      // The connection may have closed.
      response.body?.cancel().catch(() => undefined);
    } catch (error) {
      delayMs = Math.min(LOST_DELAY_MS * 2 ** retries, MAX_LOST_DELAY_MS);
      if (signal.aborted || !RETRIED_WHEN_LOST.includes(method) || !mayRetry(delayMs)) throw error;
    }
    // Up to a half longer. Otherwise clients that were refused together would return together.
    await sleep(Math.min(delayMs * (1 + Math.random() / 2), deadline - performance.now()), signal);
  }
}

/** A `crypto.randomUUID()` without hyphens or version, because browsers have that only on secure pages. */
function randomKey() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** Delay that the response asks for, in seconds or as a date; NaN without one. */
function retryAfterMs({ headers }: Response) {
  const value = headers.get('retry-after') ?? 'none';
  const seconds = Number(value);
  const delayMs = Number.isNaN(seconds) ? Date.parse(value) - Date.now() : seconds * 1000;
  return Math.max(0, delayMs);
}

/** Waits until the time has passed or the signal is aborted. */
const sleep = (delayMs: number, signal: AbortSignal) =>
  new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, delayMs);
    const wake = () => {
      clearTimeout(timer);
      resolve();
    };
    signal.addEventListener('abort', wake, { once: true });
  });
