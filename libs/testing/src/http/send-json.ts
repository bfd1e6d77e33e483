import { checkViolations } from '../service/proxy.ts';

/** An HTTP response; `body` is the parsed JSON, or `undefined` for an empty body. */
export interface JsonResponse {
  status: number;
  headers: Headers;
  body: unknown;
}

/** Sends `body` as JSON, or as it is when it is a string. */
export async function sendJson(
  url: string,
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<JsonResponse> {
  const response = await fetch(url + path, {
    method,
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    headers: { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
  });
  checkViolations(response);
  const text = await response.text();
  return {
    status: response.status,
    headers: response.headers,
    body: text === '' ? undefined : JSON.parse(text),
  };
}
