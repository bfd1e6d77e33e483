import { Type, type TObject, type TProperties } from 'typebox';

/** A body that says in words what was done, or what was wrong. */
export const Message = Type.Object({ message: Type.String() });

/** The id of a record, in a body. */
export const Id = Type.Integer({ description: 'Assigned by the service, increasing.', examples: [1] });

export const Timestamp = Type.String({
  format: 'date-time',
  description: 'ISO 8601, UTC, milliseconds.',
  examples: ['2026-11-20T18:30:00.000Z'],
});

/** Returns the names of a shape's properties, which are columns. */
export const columnsOf = <Properties extends TProperties>({ properties }: TObject<Properties>) =>
  Object.keys(properties) as (keyof Properties & string)[];
