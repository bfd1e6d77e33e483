import { request, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { brotliDecompressSync, gunzipSync, inflateSync, zstdDecompressSync } from 'node:zlib';
import { whenServed } from './fetch-when-served.ts';

/** A request, exactly as it is sent. */
export interface PlainRequest {
  method: string;
  path: string;
  headers?: Record<string, string>;
  body?: string;
  /** Length of a body of blanks, for one that is too long to be written down. */
  bodyLength?: number;
}

/** What callers read of a response. */
export interface PlainResponse {
  status: number;
  contentType: string | null;
  response: string;
}

/** Sends a request to the service at `url`. */
export type Caller = (url: string) => (request: PlainRequest) => Promise<PlainResponse>;

/** Sends the headers of the request alone, like a script. */
export const plainCaller: Caller = (url) => async (plain) => responseOf(await send(url, plain));

/** Headers of axios in a browser, on a page of another origin. */
const BROWSER_HEADERS = {
  accept: 'application/json, text/plain, */*',
  'accept-encoding': 'gzip, deflate, br, zstd',
  origin: 'http://localhost:8081',
  'user-agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0',
};

/** Sends requests like axios in a browser, whose cache keeps responses that have an ETag and revalidates them. */
export const browserCaller: Caller = (url) => {
  const cache = new Map<string, { etag: string; response: PlainResponse }>();
  return async (plain) => {
    const isCacheable = plain.method === 'GET' && plain.headers === undefined;
    const cached = isCacheable ? cache.get(plain.path) : undefined;
    const revalidation = cached && { 'if-none-match': cached.etag };
    const received = await send(url, { ...plain, headers: { ...BROWSER_HEADERS, ...revalidation, ...plain.headers } });
    if (cached && received.status === 304) return cached.response;

    const response = responseOf(received);
    const { etag, 'cache-control': cacheControl } = received.headers;
    if (isCacheable && etag && cacheControl !== 'no-store') cache.set(plain.path, { etag, response });
    return response;
  };
};

interface Received {
  status: number;
  headers: IncomingHttpHeaders;
  bytes: Buffer;
}

async function send(url: string, { method, path, headers, body, bodyLength = 0 }: PlainRequest): Promise<Received> {
  const bytes = Buffer.from(body ?? ' '.repeat(bodyLength));
  const length = bytes.length > 0 && { 'content-length': bytes.length };
  const { hostname, port } = new URL(url);
  return whenServed(
    async () => {
      // A path of its own, because URLs are normalised.
      const outgoing = request({ hostname, port, method, path, headers: { ...headers, ...length } });
      const response = await new Promise<IncomingMessage>((resolve, reject) => {
        outgoing.on('response', resolve).on('error', reject).end(bytes);
      });
      return { status: response.statusCode!, headers: response.headers, bytes: await buffer(response) };
    },
    (received) => received.status === 503 && received.headers['retry-after'] !== undefined,
  );
}

const decoders = new Map<string, (bytes: Buffer) => Buffer>([
  ['br', brotliDecompressSync],
  ['deflate', inflateSync],
  ['gzip', gunzipSync],
  ['zstd', zstdDecompressSync],
]);

function responseOf({ status, headers, bytes }: Received): PlainResponse {
  const decode = decoders.get(headers['content-encoding'] ?? '');
  const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(decode ? decode(bytes) : bytes);
  return { status, contentType: headers['content-type'] ?? null, response: text };
}
