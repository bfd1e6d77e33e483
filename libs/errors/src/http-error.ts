/** An answer other than success whose message is meant for the caller. */
export class HttpError extends Error {
  readonly statusCode: number;

  constructor(statusCode: number, message: string) {
    super(message);
    this.statusCode = statusCode;
  }
}

/** What is answered, with `Retry-After`, while there is more to do than can be done. */
export const overloaded = () => new HttpError(503, 'The service is overloaded, try again in a moment');
