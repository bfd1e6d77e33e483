import { once } from 'node:events';
import { createServer, request, type IncomingMessage, type OutgoingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach } from '@jest/globals';
import type { Page } from 'playwright-core';
import { settles } from '../test/browser.ts';

/** What a proxy does with a request; `undefined` passes it on. */
export interface Fault {
  /** Waits before the request is passed on. */
  before?: Promise<unknown>;
  /** Closes the connection: before the service gets the request, or after it has done it. */
  lose?: 'request' | 'response';
  /** Responds itself. */
  answer?: { status: number; headers?: OutgoingHttpHeaders; body: string };
  /** Changes the headers of the response. */
  headers?: (headers: OutgoingHttpHeaders) => OutgoingHttpHeaders;
}

/** A request to the API, and the status of its response. */
export interface Seen {
  method: string;
  path: string;
  key: string | undefined;
  ifMatch: string | undefined;
  status: number | undefined;
}

/**
 * Starts a proxy in front of the service, where tests make faults that also a service worker meets.
 * `fault` decides about each request to the API; `seen` has those that have been answered.
 */
async function startProxy(target: () => string) {
  const seen: Seen[] = [];
  const proxy = {
    url: '',
    seen,
    fault: undefined as ((incoming: IncomingMessage) => Fault | undefined) | undefined,
    count: (method: string) => seen.filter((each) => each.method === method).length,
    stop: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  const answer = async (incoming: IncomingMessage, outgoing: ServerResponse) => {
    const { method = '', url: path = '', headers } = incoming;
    const isApi = path.startsWith('/api/');
    const fault = (isApi && proxy.fault?.(incoming)) || {};
    const drop = () => incoming.socket.destroy();
    await fault.before;
    if (fault.lose === 'request') return drop();
    const entry: Seen = {
      method,
      path,
      key: headers['idempotency-key'] as string | undefined,
      ifMatch: headers['if-match'],
      status: undefined,
    };
    if (isApi) seen.push(entry);
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
      const changed = fault.headers?.(response.headers) ?? response.headers;
      outgoing.writeHead(response.statusCode!, changed);
      // A service that ends within a response is no reason to wait for the rest.
      response.pipe(outgoing);
      response.once('close', () => response.complete || drop());
    });
    passed.once('error', drop);
    incoming.pipe(passed);
  };
  const server = createServer((incoming, outgoing) => void answer(incoming, outgoing));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  proxy.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return proxy;
}

/** For a test file: a proxy without faults for each test. */
export function useProxy(target: () => string) {
  let proxy: Awaited<ReturnType<typeof startProxy>>;
  beforeAll(async () => {
    proxy = await startProxy(target);
  });
  beforeEach(() => {
    proxy.fault = undefined;
    proxy.seen.length = 0;
  });
  afterAll(() => proxy.stop());
  return () => proxy;
}

/** Opens a page whose requests the service worker makes. */
export async function openWithWorker(page: Page, url: string) {
  await page.goto(url);
  const isServed = () =>
    page.evaluate(async () => {
      const { active } = (await navigator.serviceWorker.getRegistration()) ?? {};
      return active?.state === 'activated' && navigator.serviceWorker.controller !== null;
    });
  await settles(isServed, true);
}

/** A promise, and the function that settles it. */
export function gate() {
  let open!: () => void;
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { open, opened };
}
