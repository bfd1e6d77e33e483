import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

/** What the proxy does with a request instead of forwarding it or its response as it is. */
export type Fault =
  | { retryAfter: string | undefined }
  | 'lose the request'
  | 'lose the response'
  | 'lose half of the response'
  | 'respond as a proxy';

interface Received {
  method: string;
  url: string;
  key: string | undefined;
  tags: Record<string, string>;
  body: string;
}

/** Starts a proxy before a service. It takes one of `faults` for each request while there are some, and records all requests. */
export async function startProxy(target: string) {
  const faults: Fault[] = [];
  const received: Received[] = [];
  const proxy = {
    ...{ faults, received, url: '' },
    hasAbsolutePaths: false,
    stop: () => server.close(),
  };

  async function respond({ method, url, key, tags, body }: Received, response: ServerResponse, fault?: Fault) {
    if (fault === 'lose the request') return response.destroy();
    if (fault === 'respond as a proxy') return response.writeHead(502).end('<h1>Bad Gateway</h1>');
    if (typeof fault === 'object') {
      const headers = fault.retryAfter === undefined ? {} : { 'retry-after': fault.retryAfter };
      response.writeHead(503, { 'content-type': 'application/json', ...headers });
      return response.end('{"message":"The service is overloaded, try again in a moment"}');
    }
    const headers = {
      ...tags,
      ...(key && { 'idempotency-key': key }),
      ...(body && { 'content-type': 'application/json' }),
    };
    const forwarded = await fetch(target + url, { method, headers, ...(body && { body }) });
    const content = Buffer.from(await forwarded.arrayBuffer());
    if (fault === 'lose the response') return response.destroy();
    const link = forwarded.headers.get('link')?.replaceAll('<?', proxy.hasAbsolutePaths ? '</v1/items?' : '<?');
    const etag = forwarded.headers.get('etag');
    const length = forwarded.status === 304 ? {} : { 'content-length': content.length };
    response.writeHead(forwarded.status, { ...length, ...(link && { link }), ...(etag && { etag }) });
    if (fault !== 'lose half of the response') return response.end(content);
    return response.write(content.subarray(0, content.length / 2), () => response.destroy());
  }

  const server = createServer((request, response) => {
    void buffer(request).then((body) => {
      const { method, url, headers } = request as { method: string; url: string; headers: Record<string, string> };
      const tags = Object.fromEntries(Object.entries(headers).filter(([name]) => /^if-(none-)?match$/.test(name)));
      const record = { method, url, key: headers['idempotency-key'], tags, body: body.toString() };
      received.push(record);
      return respond(record, response, faults.shift());
    });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  proxy.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return proxy;
}
