import { once } from 'node:events';
import { createServer, request, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

/** What the proxy does with a request instead of forwarding it or its response as it is. */
export type Fault =
  | { retryAfter: string | undefined }
  | 'lose the request'
  | 'lose the response'
  | 'lose half of the response'
  | 'respond as a proxy';

/** Starts a proxy before a service. It takes one of `faults` for each request while there are some (`undefined` forwards), and records all. */
export async function startProxy(target: string) {
  const faults: (Fault | undefined)[] = [];
  const received: { method: string; url: string; key: unknown; body: string }[] = [];
  const proxy = { ...{ faults, received, url: '' }, hasAbsolutePaths: false, stop: () => server.close() };

  async function respond(incoming: IncomingMessage, response: ServerResponse) {
    const { method, url, headers } = incoming as { method: string; url: string; headers: IncomingMessage['headers'] };
    const body = await buffer(incoming);
    received.push({ method, url, key: headers['idempotency-key'], body: body.toString() });
    const fault = faults.shift();
    if (fault === 'lose the request') return response.destroy();
    if (fault === 'respond as a proxy') return response.writeHead(502).end('<h1>Bad Gateway</h1>');
    if (typeof fault === 'object') {
      response.writeHead(503, fault.retryAfter === undefined ? {} : { 'retry-after': fault.retryAfter });
      return response.end('{"message":"The service is overloaded, try again in a moment"}');
    }
    const [forwarded] = (await once(request(target + url, { method, headers }).end(body), 'response')) as [
      IncomingMessage,
    ];
    const content = await buffer(forwarded);
    if (fault === 'lose the response') return response.destroy();
    const link = forwarded.headers.link as string | undefined;
    const absolute = link && proxy.hasAbsolutePaths && { link: link.replaceAll('<?', '</v1/items?') };
    response.writeHead(forwarded.statusCode!, { ...forwarded.headers, ...absolute });
    if (fault !== 'lose half of the response') return response.end(content);
    return response.write(content.subarray(0, content.length / 2), () => response.destroy());
  }

  const server = createServer((incoming, response) => void respond(incoming, response));
  await once(server.listen(0, '127.0.0.1').unref(), 'listening');
  proxy.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return proxy;
}
