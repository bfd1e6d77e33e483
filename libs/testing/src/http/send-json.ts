/** An HTTP response, of which Jest prints and compares status and body alone. */
export interface JsonResponse {
  status: number;
  /** Parsed JSON, or `undefined` for an empty body. */
  body: unknown;
  readonly headers: Headers;
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
  const text = await response.text();
  const { status, headers: value } = response;
  const shown = { status, body: text === '' ? undefined : (JSON.parse(text) as unknown) };
  return Object.defineProperty(shown, 'headers', { value }) as JsonResponse;
}
