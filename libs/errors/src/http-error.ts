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

/** SQLSTATEs query_canceled and lock_not_available: PostgreSQL has undone a statement that took too long or waited for a lock. */
const CANCELLED = ['57014', '55P03'];

/** Whether there is more to do than can be done, and the same request may succeed in a moment: nothing of it has been done. */
export function isOverload(error: unknown) {
  const { statusCode, code = '' } = error as { statusCode?: number; code?: string };
  return statusCode === 503 || CANCELLED.includes(code);
}
