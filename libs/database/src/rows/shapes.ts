import type { Generated } from 'kysely';
import type { Static, TObject } from 'typebox';
import type { UpdateOptions } from './writes/row-change.ts';
import type { WithId } from './row.ts';

/** What a service reads and writes of a table, by the shapes of its records and bodies, whose properties are columns. */
export interface Shapes extends UpdateOptions {
  row: TObject;
  /** Columns that an insert gives. Other columns get their defaults. */
  insert: TObject;
  update: TObject;
  /** Counts that `createRowCounts` makes; without it, the total alone. */
  counts?: TObject;
  /** A column without maximum length, which is never null. */
  longText?: string;
}

export type RowOf<Table extends Shapes> = Static<Table['row']> & WithId;

type Columns<Table extends Shapes, Shape extends TObject> = keyof Static<Shape> & keyof RowOf<Table>;

/** A row to insert. The statement of a batch gives every column of each row: an absent value is null there, never the default. */
export type NewRow<Table extends Shapes, Row = Pick<RowOf<Table>, Columns<Table, Table['insert']>>> = {
  [Name in keyof Row as null extends Row[Name] ? never : Name]: Row[Name];
} & { [Name in keyof Row as null extends Row[Name] ? Name : never]?: Row[Name] };

export type UpdatedFields<Table extends Shapes> = Partial<Pick<RowOf<Table>, Columns<Table, Table['update']>>>;

export type Counts<Table extends Shapes> = Table extends { counts: TObject }
  ? Static<Table['counts']>
  : { total: number };

export const columnsOf = ({ properties }: TObject) => Object.keys(properties);

/** Columns of a table for Kysely, by the type of a row. PostgreSQL has a default for those that are not `Required`, or null. */
export type Table<Row, Required extends keyof Row> = Pick<Row, Required> & {
  [Name in Exclude<keyof Row, Required>]: Generated<Row[Name]>;
};
