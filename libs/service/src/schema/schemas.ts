import { Type } from 'typebox';
import { asText, documentedAs } from './annotations.ts';

/** A body that says in words what was done, or what was wrong. */
export const Message = Type.Object(
  { message: Type.String({ description: 'A sentence for people.' }) },
  { $id: 'Message' },
);

/**
 * A response with this message, as the document shows it.
 * @param description what has happened, unless it is what all responses with the status say
 */
export const messageResponse = (message: string, description?: string) => ({
  ...Message,
  ...(description === undefined ? {} : { description }),
  example: { message },
});

/** A failure with its code. */
export const StorageError = Type.Object(
  {
    message: Type.String(),
    error: Type.Object({ code: Type.String({ description: 'A SQLSTATE or the name of a system error.' }) }),
  },
  { $id: 'StorageError' },
);

/** The id of a record, in a body. */
export const Id = Type.Integer({
  format: 'int64',
  description: 'Assigned by the service, increasing.',
  examples: [1],
  ...documentedAs({ minimum: 1 }),
});

const idInPath = {
  type: 'integer',
  format: 'int64',
  description: 'Decimal digits.',
  examples: [1],
  // A smaller number is not invalid: no record has it.
  ...documentedAs({ minimum: 1 }),
};

/** The id of a record, in a path. */
export const PathId = Type.Unsafe<number>(idInPath);

/** An id in a path as the client has written it, for messages that repeat it. `parseId` makes it a number. */
export const RawId = Type.Unsafe<string>({ ...idInPath, ...asText });

export const Timestamp = Type.String({
  format: 'date-time',
  description: 'ISO 8601, UTC, milliseconds.',
  examples: ['2026-11-20T18:30:00.000Z'],
});
