/** No record has the id. */
export class NotFoundError extends Error {}

/** The values of the request are not valid; the message says which. */
export class InvalidInputError extends Error {}

/** The record is not the one that the client has read. Nothing has been changed. */
export class PreconditionFailedError extends Error {
  constructor() {
    super('The record has changed since it was read');
  }
}

/** The idempotency key of the request belongs to another request. */
export class ReusedKeyError extends Error {
  constructor() {
    super('Idempotency-Key was used for another request');
  }
}

/** The service has more work than it can do. Nothing of the request has been done, so that the client may retry. */
export class OverloadedError extends Error {
  constructor() {
    super('The service is overloaded, try again in a moment');
  }
}

export const overloaded = () => new OverloadedError();
