// Puts the load that its argument describes on a server, and prints the result as JSON.
import autocannon from 'autocannon';
import { TIMEOUT_SECONDS, type Load, type LoadResult } from './load.ts';
import { fill, type RequestKind } from './scenarios.ts';

const { url, requests, connections, seconds } = JSON.parse(process.argv[2]!) as Load;
const shares = requests.reduce((sum, { share }) => sum + share, 0);

const result = await autocannon({
  url,
  connections,
  duration: seconds,
  timeout: TIMEOUT_SECONDS,
  requests: [
    {
      setupRequest: (request) => {
        const { method, path, body, key } = draw();
        const headers = {
          ...request.headers,
          ...(body ? { 'content-type': 'application/json' } : {}),
          ...(key ? { 'idempotency-key': fill(key, Math.random) } : {}),
        };
        return {
          ...request,
          method,
          path: fill(path, Math.random),
          headers,
          ...(body ? { body: fill(body, Math.random) } : {}),
        };
      },
    },
  ],
});

console.log(
  JSON.stringify({
    requests: result.requests.total,
    perSecond: result.requests.total / result.duration,
    p50Ms: result.latency.p50,
    p99Ms: result.latency.p99,
    failed: result.non2xx + result.errors + result.timeouts,
  } satisfies LoadResult),
);

function draw(): RequestKind {
  let left = Math.random() * shares;
  return requests.find(({ share }) => (left -= share) < 0)!;
}
