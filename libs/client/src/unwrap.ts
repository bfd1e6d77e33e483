/** The body of every error in the services' documents. The compiler compares both where `unwrap` gets a call. */
export interface ErrorBody {
  message: string;
  /** In some responses 500: a SQLSTATE or the name of a system error. */
  error?: { code: string };
}

/** A response other than 2xx. Its message is that of the body. */
export class ResponseError extends Error {
  override readonly name = 'ResponseError';
  readonly status: number;
  /** Undefined when the response is not the service's but, for one, a proxy's page. */
  readonly body: ErrorBody | undefined;
  readonly response: Response;

  constructor(response: Response, body: unknown) {
    const isDocumented = typeof (body as ErrorBody | undefined)?.message === 'string';
    super(isDocumented ? (body as ErrorBody).message : `HTTP ${response.status}`);
    this.status = response.status;
    this.body = isDocumented ? (body as ErrorBody) : undefined;
    this.response = response;
  }
}

/**
 * Resolves with the body of a client's call: `await unwrap(items.GET('/v1/items'))`.
 * @param known body of an earlier response, with which a 304 to the tag of that one resolves
 * @throws ResponseError when the response is not 2xx
 */
export async function unwrap<Data>(
  call: Promise<{ data?: Data; error?: ErrorBody; response: Response }>,
  known?: NoInfer<Data>,
): Promise<Data> {
  const { data, error, response } = await call;
  if (response.status === 304 && known !== undefined) return known;
  if (!response.ok) throw new ResponseError(response, error);
  return data as Data;
}
