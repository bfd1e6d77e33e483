import { HttpError } from '@rest-services/errors';
import { Ajv } from 'ajv';
import { INTERNAL_KEYWORDS } from './annotations.ts';
import { columnEntries, typeOf, type Column } from './columns.ts';
import { formats, isStorable, UNSTORABLE } from './formats.ts';
import { capitalised, messageOf } from './messages.ts';

// Lengths are counted in code points: Ajv's `unicode` option, on by default.
const ajv = new Ajv({
  verbose: true,
  keywords: INTERNAL_KEYWORDS,
  formats: {
    int64: true,
    ...Object.fromEntries(Object.entries(formats).map(([name, { isValid }]) => [name, isValid])),
  },
  // 19.99 is a multiple of 0.01, though not to the last bit.
  multipleOfPrecision: 9,
  // TypeBox has made the schemas. Checking them against JSON Schema's own schema slows each start.
  meta: false,
  validateSchema: false,
});

interface Shape {
  $id?: string;
  type?: string;
  properties: object;
  required?: string[];
}

/**
 * Makes a validator of bodies, whose values are not converted to another type.
 * @throws Error when the schema is not a `Type.Object` of columns
 */
export function bodyValidator(schema: Shape) {
  if (schema.type !== 'object') throw new Error('The body of a request must be a Type.Object');
  const columns = columnEntries(schema);
  const properties = Object.fromEntries(columns.map(([name, column]) => [name, withExactIntegers(column)]));
  // Without its name, because two routes may have the same shape, and Ajv compiles one schema of a name.
  const validate = ajv.compile({ type: 'object', properties, required: schema.required ?? [] });
  const timestamps = columns.filter(([, { format }]) => format === 'date-time').map(([name]) => name);
  return (body: unknown) => {
    // Fastify passes null without a body, which means the same as an empty object.
    const value = sentColumns(columns, body ?? {});
    if (value === undefined) return { error: new HttpError(400, 'Body must be a JSON object') };
    if (!validate(value)) return { error: new HttpError(400, messageOf(validate.errors!.at(-1)!)) };
    for (const [name, text] of Object.entries(value)) {
      if (typeof text === 'string' && !isStorable(text))
        return { error: new HttpError(400, `${capitalised(name)} ${UNSTORABLE}`) };
    }
    for (const name of timestamps) if (name in value) value[name] = new Date(value[name] as string).toISOString();
    return { value };
  };
}

/** Integers are those that JavaScript holds exactly, unless their schema has other bounds. */
const withExactIntegers = (column: Column): Column =>
  typeOf(column) === 'integer' && !column['x-documented-as']
    ? { minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER, ...column }
    : column;

/** The columns in `body` that count as sent, which null never does, or `undefined` when it is not an object. */
function sentColumns(columns: [string, Column][], body: unknown): Record<string, unknown> | undefined {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return undefined;
  const given = body as Record<string, unknown>;
  const sent: Record<string, unknown> = {};
  for (const [name, column] of columns) {
    const value = Object.hasOwn(given, name) ? given[name] : null;
    if (value === null || isNothing(value, column['x-absent-if'])) continue;
    sent[name] = column['x-accepts-text'] ? fromText(value, typeOf(column)) : value;
  }
  return sent;
}

function fromText(value: unknown, type: string) {
  if (typeof value !== 'string') return value;
  if (type === 'boolean') return value === 'true' || (value === 'false' ? false : value);
  const number = type === 'number' ? /^-?\d+(\.\d+)?(e[+-]?\d+)?$/i : /^-?\d+$/;
  return number.test(value) ? Number(value) : value;
}

function isNothing(value: unknown, absentIf: Column['x-absent-if']) {
  if (typeof value !== 'string' || absentIf === undefined) return false;
  return (absentIf === 'blank' ? value.trim() : value) === '';
}
