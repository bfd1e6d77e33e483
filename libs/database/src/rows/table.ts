import type { Generated } from 'kysely';

/** Columns of a table, by the type of a row. An insert has to give the `Required` ones; the others have defaults or may be null. */
export type Table<Row, Required extends keyof Row> = Pick<Row, Required> & {
  [Name in Exclude<keyof Row, Required>]: Generated<Row[Name]>;
};
