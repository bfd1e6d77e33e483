import { Agent, request, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';

/** Timeout of a client. A service responds in 3 s, a frozen one 2 s later. */
const TIMEOUT_MS = 10_000;

export interface HttpRequest {
  /** Base URL of the service. */
  url: string;
  method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  path: string;
  body?: { title?: string; status?: string };
  requestId: string;
  ifMatch?: string;
  idempotencyKey?: string;
}

export interface HttpResponse {
  status: number;
  /** The header X-Request-Id. */
  requestId: string | undefined;
  /** The header X-Total-Count. */
  total?: number | undefined;
  /** The header ETag. */
  tag?: string | undefined;
  body: unknown;
}

/** Sends a request. @throws Error without a whole response: the outcome is unknown */
export type Send = (request: HttpRequest) => Promise<HttpResponse>;

/** A client with up to two keep-alive connections to each service, for two requests at once. */
export function openClient(): { send: Send; close: () => void } {
  const agent = new Agent({ keepAlive: true, maxSockets: 2 });

  async function send({ url, method, path, body, ...ids }: HttpRequest): Promise<HttpResponse> {
    const outgoing = request(url + path, {
      method,
      agent,
      headers: {
        'x-request-id': ids.requestId,
        ...(body && { 'content-type': 'application/json' }),
        ...(ids.ifMatch && { 'if-match': ids.ifMatch }),
        ...(ids.idempotencyKey && { 'idempotency-key': ids.idempotencyKey }),
      },
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      outgoing.on('response', resolve).on('error', reject);
      outgoing.end(body && JSON.stringify(body));
    });
    const { 'x-request-id': requestId, 'x-total-count': total, etag } = response.headers;
    return {
      status: response.statusCode!,
      requestId: requestId as string | undefined,
      total: total === undefined ? undefined : Number(total),
      tag: etag,
      body: JSON.parse(await text(response)) as unknown,
    };
  }
  return { send, close: () => agent.destroy() };
}
