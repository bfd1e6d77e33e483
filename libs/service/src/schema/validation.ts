import { HttpError } from '@rest-services/errors';
import { Ajv } from 'ajv';
import type { FastifySchemaCompiler } from 'fastify';
import { Type, type TObject, type TSchema } from 'typebox';
import { urlEncodedReader } from './url-encoded.ts';
import { compiled } from './compiled.ts';
import { formats, isTimestamp } from './formats.ts';
import { capitalised, inWords } from './words.ts';

/** Annotation for a body property: a string with nothing but white space in it counts as not sent. */
export const absentIfBlank = { 'x-absent-if': 'blank' };

/** Annotation for a body property: the empty string counts as not sent. */
export const absentIfEmpty = { 'x-absent-if': 'empty' };

/** Annotation for a number or a boolean: its text is accepted, too, because URL-encoded bodies have only texts. */
export const acceptsText = { 'x-accepts-text': true };

/** Annotation for a string: the message of the contract when it is missing or blank. */
export const emptyMessage = (message: string) => ({ 'x-empty-message': message });

/** Annotation for a value of which the document says more, or less, than the service checks: these keywords are the document's. */
export const documentedAs = (keywords: object) => ({ 'x-documented-as': keywords });

/** Keywords that are not in the document, because they have no meaning outside the service. */
export const INTERNAL_KEYWORDS = ['x-absent-if', 'x-accepts-text', 'x-as-text', 'x-documented-as', 'x-empty-message'];

const idInPath = {
  type: 'integer',
  format: 'int64',
  description: 'Decimal digits.',
  examples: [1],
  // A smaller number is not invalid: no record has it.
  ...documentedAs({ minimum: 1 }),
};

/** The id of a record, in a path. */
export const PathId = Type.Unsafe<number>(idInPath);

/** An id in a path as the client has written it, for messages that repeat it. `parseId` makes it a number. */
export const RawId = Type.Unsafe<string>({ ...idInPath, 'x-as-text': true });

/** Parses decimal digits. Larger numbers than JavaScript holds exactly become the largest exact one, which no row has. */
export const parseId = (digits: string) => Math.min(Number(digits), Number.MAX_SAFE_INTEGER);

// Lengths are counted in code points: Ajv's `unicode` option, on by default.
const ajv = new Ajv({
  verbose: true,
  allowUnionTypes: true,
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

/** Checks bodies, which hold typed JSON, without conversion, and parses parameters, which are strings. */
export const compileValidator: FastifySchemaCompiler<TSchema> = ({ schema, httpPart }) => {
  // A handler checks the headers that its schema documents.
  if (httpPart === 'headers') return () => true;
  if (httpPart === 'body') return bodyValidator(schema as TObject);
  const parse = textParser(schema as TObject);
  if (httpPart === 'params') return parse;
  const read = urlEncodedReader(Object.keys((schema as TObject).properties));
  return ({ text }: { text: string }) => parse(read(text));
};

function bodyValidator(schema: TObject) {
  const validate = compiled(schema, compileBody);
  const properties = Object.entries(schema.properties) as [string, BodyProperty][];
  const timestamps = properties.filter(([, property]) => isTimestampIn(property)).map(([name]) => name);
  return (body: unknown) => {
    // Fastify passes null without a body, which means the same as an empty object.
    const value = present(properties, body ?? {});
    if (value === undefined) return { error: new HttpError(400, 'Body must be a JSON object') };
    if (!validate(value)) return { error: new HttpError(400, inWords(validate.errors!.at(-1)!)) };
    for (const [name] of properties) {
      const problem = storageProblem(value[name]);
      if (problem) return { error: new HttpError(400, `${capitalised(name)} ${problem}`) };
    }
    for (const name of timestamps) if (name in value) value[name] = inUtc(value[name]);
    return { value };
  };
}

/** Integers are those that JavaScript holds exactly, unless their schema has other bounds. */
function compileBody(schema: BodyProperty) {
  if (schema.type !== 'object' || !schema.properties) throw new Error('The body of a request must be a Type.Object');
  const properties = Object.entries(schema.properties).map(([name, property]) => {
    const isInteger = [property.type].flat().includes('integer') && !property['x-documented-as'];
    return [name, isInteger ? { ...exactIntegers, ...property } : property];
  });
  const copy = { ...schema, properties: Object.fromEntries(properties) as object };
  // Two routes may have the same shape, and Ajv compiles one schema of a name.
  delete copy.$id;
  return ajv.compile(copy);
}

const exactIntegers = { minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER };

/** The known properties of `body` that count as sent, which null never does, or `undefined` when it is not an object. */
function present(properties: [string, BodyProperty][], body: unknown): Record<string, unknown> | undefined {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return undefined;
  const given = body as Record<string, unknown>;
  const sent: Record<string, unknown> = {};
  for (const [name, property] of properties) {
    const value = Object.hasOwn(given, name) ? given[name] : null;
    if (value === null || isNothing(value, property['x-absent-if'])) continue;
    sent[name] = property['x-accepts-text'] ? fromText(value, [property.type].flat()) : value;
  }
  return sent;
}

interface BodyProperty extends TSchema {
  $id?: string;
  type?: string | string[];
  format?: string;
  properties?: Record<string, BodyProperty>;
  anyOf?: BodyProperty[];
  'x-absent-if'?: 'blank' | 'empty';
  'x-accepts-text'?: boolean;
  'x-documented-as'?: object;
}

function fromText(value: unknown, types: (string | undefined)[]) {
  if (typeof value !== 'string') return value;
  if (types.includes('boolean')) return value === 'true' || (value === 'false' ? false : value);
  const number = types.includes('number') ? /^-?\d+(\.\d+)?(e[+-]?\d+)?$/i : /^-?\d+$/;
  return number.test(value) ? Number(value) : value;
}

function isNothing(value: unknown, absentIf: BodyProperty['x-absent-if']) {
  if (typeof value !== 'string' || absentIf === undefined) return false;
  return (absentIf === 'blank' ? value.trim() : value) === '';
}

const isTimestampIn = ({ format, anyOf = [] }: BodyProperty): boolean =>
  format === 'date-time' || anyOf.some(isTimestampIn);

/** A timestamp as services respond with it, in which a year has four digits, and which PostgreSQL stores with any offset. */
const inUtc = (value: unknown) =>
  typeof value === 'string' && isTimestamp(value) ? new Date(value).toISOString() : value;

const unstorableText = 'must not contain NUL or unpaired surrogates';

/** Maximum depth of arrays and objects in each other: with some thousand, Node.js and PostgreSQL run out of stack. */
const MAX_DEPTH = 100;

/** What PostgreSQL can't hold, in words: NUL, half a surrogate pair, which has no UTF-8 form, and deep JSON. */
function storageProblem(value: unknown, depth = 0): string | undefined {
  if (typeof value === 'string') return isStorable(value) ? undefined : unstorableText;
  if (typeof value !== 'object' || value === null) return undefined;
  if (depth === MAX_DEPTH) return `must have at most ${MAX_DEPTH} levels`;
  for (const [name, each] of Object.entries(value)) {
    const problem = storageProblem(name) ?? storageProblem(each, depth + 1);
    if (problem) return problem;
  }
  return undefined;
}

const isStorable = (text: string) => !text.includes('\0') && text.isWellFormed();

/**
 * Path parameters and query strings. An integer is written in decimal digits and nothing else; one that JavaScript does
 * not hold exactly becomes the largest that it does, which no row has. A query parameter that does not parse counts as not sent,
 * unless it is a string that is not UTF-8, which is a 400, as is a path parameter that does not parse.
 */
function textParser(schema: TObject) {
  const required = new Set<string>(schema.required);
  const parameters = Object.entries(schema.properties) as [string, TextParameter][];
  const other = parameters.find(([, { type }]) => type !== 'string' && type !== 'integer')?.[0];
  if (other !== undefined) throw new Error(`${other}: a parameter must be a string or an integer`);
  return (texts: Record<string, string | null | undefined>) => {
    const value: Record<string, unknown> = {};
    for (const [name, { type, minimum = 0, 'x-as-text': asText }] of parameters) {
      const text = texts[name];
      if (type === 'string' && text === null)
        return { error: new HttpError(400, `${capitalised(name)} is not valid UTF-8`) };
      const integer = type === 'integer' ? parseInteger(text, minimum) : undefined;
      const parsed = type === 'string' || (asText && integer !== undefined) ? text : integer;
      if (parsed !== undefined) value[name] = parsed;
      else if (required.has(name)) return { error: new HttpError(400, `Invalid ${name}`) };
      // What a path names is a number in the end.
      if (!required.has(name) && typeof parsed === 'string' && !isStorable(parsed))
        return { error: new HttpError(400, `${capitalised(name)} ${unstorableText}`) };
    }
    return { value };
  };
}

interface TextParameter {
  type: string;
  minimum?: number;
  'x-as-text'?: boolean;
}

function parseInteger(text: string | null | undefined, minimum: number) {
  if (typeof text !== 'string' || !/^\d+$/.test(text) || Number(text) < minimum) return undefined;
  return parseId(text);
}
