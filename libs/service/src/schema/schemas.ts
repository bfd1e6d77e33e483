import { Type, type TObject, type TProperties } from 'typebox';
import { documentedAs } from './validation.ts';

/** A body that says in words what was done, or what was wrong. */
export const Message = Type.Object(
  { message: Type.String({ description: 'A sentence for people.', examples: ['Not found'] }) },
  { $id: 'Message' },
);

/** A failure with its code. */
export const StorageError = Type.Object(
  {
    message: Type.String({ examples: ['Database error'] }),
    error: Type.Object({
      code: Type.String({ description: 'A SQLSTATE or the name of a system error.', examples: ['57P03'] }),
    }),
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

export const Timestamp = Type.String({
  format: 'date-time',
  description: 'ISO 8601, UTC, milliseconds.',
  examples: ['2026-11-20T18:30:00.000Z'],
});

/** Returns the names of a shape's properties, which are columns. */
export const columnsOf = <Properties extends TProperties>({ properties }: TObject<Properties>) =>
  Object.keys(properties) as (keyof Properties & string)[];
