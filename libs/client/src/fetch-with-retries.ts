/** Maximum number of retries of one request. */
const MAX_RETRIES = 3;

/** Maximum `Retry-After` that a retry waits for. A response that says more is the caller's. */
const MAX_RETRY_AFTER_MS = 30_000;

/** Delay before the first retry of a lost request. Each further one doubles it. */
const LOST_DELAY_MS = 500;

/** A lost PUT or DELETE is not retried, because another client may have changed the record after it was done. */
const RETRIED_WHEN_LOST = ['GET', 'HEAD', 'POST'];

/**
 * Fetches like `fetch`, and retries up to three times: any request after a 503 with `Retry-After`, and GET, HEAD and POST when
 * no response arrives. Each POST gets an `Idempotency-Key`, so that a retry creates nothing a second time.
 */
export const fetchWithRetries: typeof fetch = async (input, init) => {
  const request = new Request(input, init);
  const { method, headers, signal } = request;
  const isPost = method === 'POST';
  if (isPost && !headers.has('idempotency-key')) headers.set('idempotency-key', randomKey());

  for (let retries = 0; ; retries += 1) {
    let delayMs;
    try {
      const response = await fetch(request.clone());
      // Read here, because a response is also lost when the connection closes within its body.
      if (isPost) await response.clone().arrayBuffer();
      delayMs = response.status === 503 ? retryAfterMs(response) : undefined;
      if (delayMs === undefined || retries === MAX_RETRIES) return response;
      void response.body?.cancel();
    } catch (error) {
      if (signal.aborted || retries === MAX_RETRIES || !RETRIED_WHEN_LOST.includes(method)) throw error;
      delayMs = LOST_DELAY_MS * 2 ** retries;
    }
    // Up to a half longer. Otherwise clients that were refused together would return together.
    await sleep(delayMs * (1 + Math.random() / 2), signal);
  }
};

/** A `crypto.randomUUID()` without hyphens or version, because browsers have that only on secure pages. */
function randomKey() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** Delay that the response asks for, in seconds or as a date; undefined without a usable one. */
function retryAfterMs({ headers }: Response) {
  const value = headers.get('retry-after') ?? 'none';
  const seconds = Number(value);
  const delayMs = Number.isNaN(seconds) ? Date.parse(value) - Date.now() : seconds * 1000;
  return delayMs <= MAX_RETRY_AFTER_MS ? Math.max(0, delayMs) : undefined;
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
