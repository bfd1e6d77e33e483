import fc from 'fast-check';
import type { ValueSchema } from '../service/document.ts';

/** The type of a value, without null. */
const typeOf = ({ type }: ValueSchema) => [type].flat().find((each) => each !== 'null');

/** Makes value number `n` of a schema. Other numbers have other values, as far as the schema allows. */
export function valueOf(schema: ValueSchema, n: number): unknown {
  if (schema.enum) return schema.enum[n % schema.enum.length];
  switch (typeOf(schema)) {
    case 'string':
      return textOf(schema, n);
    case 'boolean':
      return n % 2 === 0;
    default:
      return numberOf(schema, n);
  }
}

export const bodyOf = (properties: Record<string, ValueSchema>, n: number) =>
  Object.fromEntries(Object.entries(properties).map(([name, property]) => [name, valueOf(property, n)]));

function textOf({ format, pattern, minLength = 0, maxLength = Infinity }: ValueSchema, n: number) {
  switch (format) {
    case 'date-time':
      return new Date(Date.UTC(2026, 10, 20, 18, n)).toISOString().replace('Z', '+02:00');
    case 'date':
      return new Date(Date.UTC(2026, 10, 20 + n)).toISOString().slice(0, 10);
    case 'uuid':
      return `8e03978e-40d5-43e8-bc93-${String(n).padStart(12, '0')}`;
  }
  if (pattern !== undefined) return fc.sample(fc.stringMatching(new RegExp(pattern)), { seed: n, numRuns: 1 })[0];
  return `Text ${n}`.padStart(minLength, 'T').slice(-maxLength);
}

function numberOf(schema: ValueSchema, n: number) {
  const { multipleOf: step = typeOf(schema) === 'integer' ? 1 : 0.5, exclusiveMinimum, exclusiveMaximum } = schema;
  const { minimum = exclusiveMinimum === undefined ? 0 : exclusiveMinimum + step } = schema;
  const { maximum = exclusiveMaximum === undefined ? Infinity : exclusiveMaximum - step } = schema;
  const first = Math.min(minimum, maximum);
  // 0.3, not 0.30000000000000004.
  return Number((first + (n % (Math.floor((maximum - first) / step) + 1)) * step).toPrecision(15));
}

/** Whether a value may be any text of some length. */
export const isPlainText = (schema: ValueSchema) =>
  typeOf(schema) === 'string' && !schema.format && !schema.enum && !schema.pattern;

/** Values that a schema does not allow. */
export function nonsenseOf(schema: ValueSchema): unknown[] {
  const type = typeOf(schema);
  return [
    ...(isPlainText(schema) ? [] : ['No such value']),
    ...(type === 'number' ? [] : [12.5]),
    ...(type === 'boolean' ? [] : [true]),
    ...[[], {}],
  ];
}

/** Values at the ends of what a schema allows, and just beyond. */
export function extremesOf(schema: ValueSchema): unknown[] {
  const { format = '', minimum = -Number.MAX_VALUE, maximum = Number.MAX_VALUE, maxLength = 10_000 } = schema;
  switch (typeOf(schema)) {
    case 'string':
      return [...(extremeTexts[format] ?? ['𝄞'.repeat(maxLength), 'x'.repeat(maxLength + 1)]), ...['a\0', '\ud800']];
    case 'boolean':
      return [];
    default:
      return [minimum, maximum, minimum - 1, maximum + 1, ...[1, -1].map((sign) => sign * Number.MAX_SAFE_INTEGER)];
  }
}

const days = ['0001-01-01', '9999-12-31', '0000-01-01', '2026-02-29', '2026-00-10'];
const times = ['2026-11-20T24:00:00Z', '2026-11-20T18:30:60Z', '9999-12-31T23:59:59-01:00', 'infinity'];
const extremeTexts: Record<string, string[]> = {
  'date-time': [...days.map((day) => `${day}T00:00:00Z`), ...times, '2026-11-20T18:30:00+23:59'],
  date: [...days, 'infinity', 'today'],
  uuid: ['ffffffff-ffff-ffff-ffff-ffffffffffff', '{8e03978e-40d5-43e8-bc93-6894a57f9324}'],
};
