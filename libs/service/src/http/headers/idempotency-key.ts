import type { IdempotencyKey } from '@rest-services/database';
import { InvalidInputError } from '@rest-services/errors';
import type { FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { messageResponse } from '../../schema/schemas.ts';

/** Without spaces: Node.js joins a repeated header by `, `. */
const KEY = /^[!-~]{1,255}$/;

/** Headers of a POST that its client may repeat. Tools that fill in all parameters send the default: the empty key, which counts as not sent. */
export const IdempotencyHeaders = Type.Object({
  'idempotency-key': Type.Optional(
    Type.String({
      maxLength: 255,
      default: '',
      description:
        '1 to 255 visible ASCII characters such as a UUID, new for each record; empty as if not sent. Sent again with the same body within 24 hours, it creates nothing and gets the first response again.',
    }),
  ),
});

/** Body of the 422 to a key that belongs to another request. */
export const KeyReused = messageResponse(
  'Idempotency-Key was used for another request',
  'The Idempotency-Key was used with another body.',
);

/**
 * Reads the key of a request; with the key go the route and the body as its validator has read it.
 * @throws InvalidInputError when the key is not valid
 */
export function idempotencyKeyOf({ headers, body, routeOptions }: FastifyRequest): IdempotencyKey | undefined {
  const key = headers['idempotency-key'];
  if (key === undefined || key === '') return undefined;
  if (typeof key !== 'string' || !KEY.test(key))
    throw new InvalidInputError('Idempotency-Key must be 1 to 255 visible ASCII characters');
  return { key, request: JSON.stringify([routeOptions.url, body]) };
}
