import { formats } from './formats.ts';

/** The schema of a value that a column holds. */
export interface Column {
  type: string | [string, 'null'];
  format?: string;
  enum?: (string | number | null)[];
  minimum?: number;
  maximum?: number;
  multipleOf?: number;
  pattern?: string;
  examples?: unknown[];
  'x-absent-if'?: 'blank' | 'empty';
  'x-accepts-text'?: boolean;
  'x-documented-as'?: object;
  'x-empty-message'?: string;
}

const TYPES = ['string', 'integer', 'number', 'boolean'];

/** The type of a column, without null. */
export const typeOf = ({ type }: Column) => (Array.isArray(type) ? type[0] : type);

/** The columns of a shape by name. @throws Error that names a property of another type or format than columns have */
export function columnEntries(shape: { properties: object; $id?: string }) {
  const columns = Object.entries(shape.properties as Record<string, Column>);
  for (const [name, column] of columns) {
    const problem = problemOf(column);
    if (problem) throw new Error(`${shape.$id ? `${shape.$id}.` : ''}${name}: ${problem}`);
  }
  return columns;
}

function problemOf(column: Column) {
  const { format = 'int64' } = column;
  if (!TYPES.includes(typeOf(column)) || 'const' in column)
    return 'a column must be a string, an integer, a number, a boolean, or an enum of one of these types';
  return format in formats || format === 'int64' ? undefined : `unknown format "${format}"`;
}
