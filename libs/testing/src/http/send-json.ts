/** An HTTP response, of which Jest prints status and body when a test fails: the headers are a getter. */
export class JsonResponse {
  readonly status: number;
  /** Parsed JSON, or `undefined` for an empty body. */
  readonly body: unknown;
  readonly #headers: Headers;

  constructor({ status, headers }: Response, body: unknown) {
    this.status = status;
    this.body = body;
    this.#headers = headers;
  }

  get headers() {
    return this.#headers;
  }
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
  return new JsonResponse(response, text === '' ? undefined : JSON.parse(text));
}
