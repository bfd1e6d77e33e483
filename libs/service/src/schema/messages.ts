import type { ErrorObject } from 'ajv';
import { typeOf, type Column } from './columns.ts';
import { formats } from './formats.ts';

/** Pattern of a text that is not blank. */
const NOT_BLANK = String.raw`\S`;

/** Says in words what is wrong with a body. */
export function messageOf({ keyword, instancePath, params, parentSchema }: ErrorObject): string {
  const { missingProperty, limit } = params as { missingProperty?: string; limit: number };
  const field = capitalised(missingProperty ?? instancePath.slice(1));
  const { properties } = parentSchema as { properties: Record<string, Column> };
  const column = missingProperty === undefined ? (parentSchema as Column) : properties[missingProperty]!;
  if (missingProperty !== undefined || (keyword === 'pattern' && column.pattern === NOT_BLANK))
    return column['x-empty-message'] ?? `${field} cannot be empty`;
  if (keyword === 'minLength') return `${field} must be at least ${characters(limit)}`;
  if (keyword === 'maxLength') return `${field} must be at most ${characters(limit)}`;
  return `${field} must be ${described(column)}`;
}

/** `released_year` as `Released year`. */
export const capitalised = (name: string) => (name.charAt(0).toUpperCase() + name.slice(1)).replaceAll('_', ' ');

const characters = (count: number) => `${count} character${count === 1 ? '' : 's'}`;

/** A noun for the values of a column but null, which counts as not sent. */
function described(column: Column): string {
  if (column.enum) return column.enum.filter((value) => value !== null).join(' or ');
  const type = typeOf(column);
  if (type === 'string') return textOf(column);
  return `${type === 'integer' ? 'an' : 'a'} ${type}${rangeOf(column)}`;
}

function textOf({ format = '', pattern = NOT_BLANK, examples = [] }: Column) {
  if (formats[format]) return formats[format].inWords;
  if (pattern === NOT_BLANK) return 'a string';
  return examples.length > 0 ? `a string such as ${examples.join(' or ')}` : `a string that matches ${pattern}`;
}

function rangeOf({ minimum, maximum, multipleOf }: Column) {
  const given = (words: string, value: number | undefined) => (value === undefined ? '' : `${words} ${value}`);
  const isBetween = minimum !== undefined && maximum !== undefined;
  const bounds = isBetween
    ? ` from ${minimum} to ${maximum}`
    : given(' of at least', minimum) + given(' of at most', maximum);
  return bounds + given(', a multiple of', multipleOf);
}
