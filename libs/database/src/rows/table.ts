import type { Generated } from 'kysely';

/** Columns of a table, by the type of a row. PostgreSQL has a default for those that are not `Required`, or null. */
export type Table<Row, Required extends keyof Row> = Pick<Row, Required> & {
  [Name in Exclude<keyof Row, Required>]: Generated<Row[Name]>;
};
