import type { ErrorObject } from 'ajv';
import { formats } from './formats.ts';

/** Keywords of a schema that a message says in words. */
interface FieldSchema {
  type?: string | string[];
  format?: string;
  enum?: (string | number | null)[];
  const?: string | number | boolean;
  anyOf?: FieldSchema[];
  minimum?: number;
  maximum?: number;
  exclusiveMinimum?: number;
  exclusiveMaximum?: number;
  multipleOf?: number;
  pattern?: string;
  examples?: unknown[];
  properties?: Record<string, FieldSchema>;
  'x-empty-message'?: string;
}

/** Pattern of a text that is not blank. */
const NOT_BLANK = String.raw`\S`;

/** Says in words what is wrong with a body. */
export function inWords({ keyword, instancePath, params, parentSchema }: ErrorObject): string {
  const { missingProperty, limit } = params as { missingProperty?: string; limit: number };
  const path = instancePath.split('/').slice(1);
  const field = capitalised([...path, ...(missingProperty === undefined ? [] : [missingProperty])].join(' '));
  const schema = parentSchema as FieldSchema;
  if (missingProperty !== undefined)
    return schema.properties?.[missingProperty]?.['x-empty-message'] ?? `${field} cannot be empty`;
  if (keyword === 'pattern' && schema.pattern === NOT_BLANK)
    return schema['x-empty-message'] ?? `${field} cannot be empty`;
  const rule = rules[keyword]?.(limit);
  if (rule) return `${field} must ${rule}`;
  // Other keywords of an object or an array say what is in it.
  const wanted = keyword === 'type' || !/object|array/.test(String(schema.type)) ? described(schema) : '';
  return wanted === '' ? `${field} is not valid` : `${field} must be ${wanted}`;
}

/** `released_year` as `Released year`. */
export const capitalised = (name: string) => (name.charAt(0).toUpperCase() + name.slice(1)).replaceAll('_', ' ');

const rules: Record<string, (limit: number) => string> = {
  minLength: (limit) => `be at least ${count(limit, 'character')}`,
  maxLength: (limit) => `be at most ${count(limit, 'character')}`,
  minItems: (limit) => `have at least ${count(limit, 'value')}`,
  maxItems: (limit) => `have at most ${count(limit, 'value')}`,
  uniqueItems: () => 'have no value twice',
  additionalProperties: () => 'have no other properties',
};

const count = (number: number, what: string) => `${number} ${what}${number === 1 ? '' : 's'}`;

/** A noun for the values that a schema allows; empty for null, which counts as not sent. */
function described(schema: FieldSchema): string {
  if (schema.enum) return schema.enum.filter((value) => value !== null).join(' or ');
  if (schema.const !== undefined) return String(schema.const);
  const kinds = schema.anyOf?.map(described) ?? [schema.type ?? []].flat().map((type) => ofType(type, schema));
  return [...new Set(kinds)].filter((kind) => kind !== '').join(' or ');
}

function ofType(type: string, schema: FieldSchema) {
  switch (type) {
    case 'null':
      return '';
    case 'integer':
    case 'array':
    case 'object':
      return `an ${type}${rangeOf(schema)}`;
    case 'string':
      return textOf(schema);
    default:
      return `a ${type}${rangeOf(schema)}`;
  }
}

function textOf({ format = '', pattern = NOT_BLANK, examples = [] }: FieldSchema) {
  if (formats[format]) return formats[format].inWords;
  if (pattern === NOT_BLANK) return 'a string';
  return examples.length > 0 ? `a string such as ${examples.join(' or ')}` : `a string that matches ${pattern}`;
}

function rangeOf({ minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf }: FieldSchema) {
  const given = (words: string, value: number | undefined) => (value === undefined ? [] : [`${words} ${value}`]);
  const isBetween = minimum !== undefined && maximum !== undefined;
  const bounds = [
    ...(isBetween
      ? [`from ${minimum} to ${maximum}`]
      : [...given('of at least', minimum), ...given('of at most', maximum)]),
    ...[...given('above', exclusiveMinimum), ...given('below', exclusiveMaximum)],
  ];
  return [bounds.length > 0 ? ` ${bounds.join(' and ')}` : '', ...given('a multiple of', multipleOf)].join(', ');
}
