import { once } from 'node:events';
import { createServer, request, type IncomingMessage, type OutgoingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach } from '@jest/globals';

/** What a proxy does with a request; `undefined` passes it on. */
export interface Fault {
  /** Waits before the request is passed on. */
  before?: Promise<unknown>;
  /** Waits before the response is passed on. */
  after?: Promise<unknown>;
  /** Closes the connection: before the service gets the request, after it has done it, or within the response. */
  lose?: 'request' | 'response' | 'half of the response';
  /** Responds itself. */
  answer?: { status: number; headers?: OutgoingHttpHeaders; body: string };
  /** Changes the headers of the response. */
  headers?: (headers: OutgoingHttpHeaders) => OutgoingHttpHeaders;
}

/** A request to the API, and the status of its response. */
interface Seen {
  method: string;
  path: string;
  key: string | undefined;
  ifMatch: string | undefined;
  status: number | undefined;
}

/** What a request waits for that is never answered. */
export const forEver = new Promise<never>(() => undefined);

/**
 * For a test file: a proxy in front of the service, where tests make faults that also a service worker meets. Each test begins
 * without any.
 * @param api beginning of the paths of the API
 */
export function useProxy(target: () => string, api = '/api/') {
  const seen: Seen[] = [];
  const proxy = {
    url: '',
    /** Requests to the API, from when they are passed on, answered or lost. */
    seen,
    /** Decides about each request to the API. */
    fault: undefined as ((incoming: IncomingMessage) => Fault | undefined) | undefined,
    /** Decides about each request for a page or one of its files. */
    pageFault: undefined as ((incoming: IncomingMessage) => Fault | undefined) | undefined,
    count: (method: string) => seen.filter((each) => each.method === method).length,
    statuses: (method: string) => seen.filter((each) => each.method === method).map(({ status }) => status),
    /** Holds the requests of a method, after a number of them. @returns what lets them pass */
    hold: (method: string, after = 0) => {
      const { promise: before, resolve } = Promise.withResolvers<undefined>();
      let count = 0;
      proxy.fault = (incoming) => (incoming.method === method && (count += 1) > after ? { before } : undefined);
      return () => resolve(undefined);
    },
    /** Holds the response to the next GET of a path. @returns what lets it pass */
    holdNext: (path: string) => {
      const { promise: after, resolve } = Promise.withResolvers<undefined>();
      proxy.fault = ({ method, url }) => {
        if (method !== 'GET' || url !== path) return undefined;
        proxy.fault = undefined;
        return { after };
      };
      return () => resolve(undefined);
    },
  };
  const answer = async (incoming: IncomingMessage, outgoing: ServerResponse) => {
    const { method = '', url: path = '', headers } = incoming;
    const isApi = path.startsWith(api);
    const fault = (isApi ? proxy.fault : proxy.pageFault)?.(incoming) ?? {};
    const drop = () => incoming.socket.destroy();
    await fault.before;
    const key = headers['idempotency-key'] as string | undefined;
    const entry: Seen = { method, path, key, ifMatch: headers['if-match'], status: undefined };
    if (isApi) seen.push(entry);
    if (fault.lose === 'request') return drop();
    if (fault.answer) {
      entry.status = fault.answer.status;
      outgoing.writeHead(fault.answer.status, fault.answer.headers).end(fault.answer.body);
      return;
    }
    const passed = request(target() + path, { method, headers }, (response) => {
      entry.status = response.statusCode;
      if (fault.lose === 'response') {
        response.resume().once('close', drop);
        return;
      }
      if (fault.lose === 'half of the response') {
        outgoing.writeHead(response.statusCode!, response.headers);
        response.once('data', (part: Buffer) => outgoing.write(part.subarray(0, part.length / 2), drop));
        return;
      }
      void Promise.resolve(fault.after).then(() => {
        outgoing.writeHead(response.statusCode!, fault.headers?.(response.headers) ?? response.headers);
        response.pipe(outgoing);
      });
      // A service that ends within a response is no reason to wait for the rest.
      response.once('close', () => response.complete || drop());
    });
    passed.once('error', drop);
    incoming.pipe(passed);
  };
  const server = createServer((incoming, outgoing) => void answer(incoming, outgoing));
  beforeAll(async () => {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    proxy.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  beforeEach(() => {
    Object.assign(proxy, { fault: undefined, pageFault: undefined });
    seen.length = 0;
  });
  afterAll(async () => {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  });
  return proxy;
}
