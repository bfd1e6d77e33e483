import { HttpError } from '@rest-services/errors';
import { Ajv, type ErrorObject } from 'ajv';
import type { FastifySchemaCompiler } from 'fastify';
import { Type, type TObject, type TSchema } from 'typebox';
import { urlEncodedReader } from '../http/url-encoded.ts';

/** Annotation for a body property: a string with nothing but white space in it counts as not sent. */
export const absentIfBlank = { 'x-absent-if': 'blank' };

/** Annotation for a body property: the empty string counts as not sent. */
export const absentIfEmpty = { 'x-absent-if': 'empty' };

/** Annotation for an integer: a string of decimal digits is accepted, too, because URL-encoded bodies have no numbers. */
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

/** An id in a path as the client has written it, for messages that repeat it. `parseId` turns it into a number. */
export const RawId = Type.Unsafe<string>({ ...idInPath, 'x-as-text': true });

/** Parses decimal digits. Larger numbers than JavaScript holds exactly become the largest exact one, which no row has. */
export const parseId = (digits: string) => Math.min(Number(digits), Number.MAX_SAFE_INTEGER);

// Lengths are counted in code points: Ajv's `unicode` option, on by default.
const ajv = new Ajv({
  verbose: true,
  allowUnionTypes: true,
  keywords: INTERNAL_KEYWORDS,
  formats: { int64: true },
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
  const validate = ajv.compile(schema);
  const properties = Object.entries(schema.properties) as [string, BodyProperty][];
  return (body: unknown) => {
    // Fastify passes null without a body, which means the same as an empty object.
    const value = present(properties, body ?? {});
    if (value === undefined) return { error: new HttpError(400, 'Body must be a JSON object') };
    if (!validate(value)) return { error: new HttpError(400, inWords(validate.errors![0]!)) };
    const unstorable = properties.find(([name]) => !isStorable(value[name]))?.[0];
    return unstorable === undefined
      ? { value }
      : { error: new HttpError(400, `${capitalised(unstorable)} ${unstorableText}`) };
  };
}

/** The known properties of `body` that count as sent, which null never does, or `undefined` when it is not an object. */
function present(properties: [string, BodyProperty][], body: unknown): Record<string, unknown> | undefined {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return undefined;
  const given = body as Record<string, unknown>;
  const sent: Record<string, unknown> = {};
  for (const [name, property] of properties) {
    const value = Object.hasOwn(given, name) ? given[name] : null;
    if (value === null || isNothing(value, property['x-absent-if'])) continue;
    sent[name] = property['x-accepts-text'] ? fromText(value) : value;
  }
  return sent;
}

interface BodyProperty extends TSchema {
  'x-absent-if'?: 'blank' | 'empty';
  'x-accepts-text'?: boolean;
}

const fromText = (value: unknown) => (typeof value === 'string' && /^-?\d+$/.test(value) ? Number(value) : value);

function isNothing(value: unknown, absentIf: BodyProperty['x-absent-if']) {
  if (typeof value !== 'string' || absentIf === undefined) return false;
  return (absentIf === 'blank' ? value.trim() : value) === '';
}

const unstorableText = 'must not contain NUL or unpaired surrogates';

/** What PostgreSQL can't hold: NUL, and half a surrogate pair, which has no UTF-8 form. */
const isStorable = (value: unknown) => typeof value !== 'string' || (!value.includes('\0') && value.isWellFormed());

function inWords({ keyword, instancePath, params, parentSchema }: ErrorObject) {
  const allowed = params as { missingProperty: string; type: string; limit: number };
  const field = capitalised(keyword === 'required' ? allowed.missingProperty : instancePath.slice(1));
  const schema = parentSchema as FieldSchema;
  if (schema.enum) return `${field} must be ${schema.enum.join(' or ')}`;
  if ([schema.type].flat().includes('integer')) return `${field} must be ${integerIn(schema)}`;
  switch (keyword) {
    case 'required':
      return schema.properties?.[allowed.missingProperty]?.['x-empty-message'] ?? `${field} cannot be empty`;
    case 'pattern':
      return schema['x-empty-message'] ?? `${field} cannot be empty`;
    case 'type':
      return `${field} must be a ${allowed.type}`;
    case 'maxLength':
      return `${field} must be at most ${allowed.limit} characters`;
    default:
      return `${field} is not valid`;
  }
}

interface FieldSchema {
  type?: string | string[];
  enum?: (string | number)[];
  minimum?: number;
  maximum?: number;
  properties?: Record<string, FieldSchema>;
  'x-empty-message'?: string;
}

const integerIn = ({ minimum, maximum }: FieldSchema) =>
  minimum === undefined || maximum === undefined ? 'an integer' : `an integer from ${minimum} to ${maximum}`;

/** `released_year` as `Released year`. */
const capitalised = (name: string) => (name.charAt(0).toUpperCase() + name.slice(1)).replaceAll('_', ' ');

/**
 * Path parameters and query strings. An integer is written in decimal digits and nothing else; one that JavaScript does
 * not hold exactly becomes the largest that it does, which no row has. A query parameter that does not parse counts as not sent,
 * unless it is a string that is not UTF-8, which is a 400, as is a path parameter that does not parse.
 */
function textParser(schema: TObject) {
  const required = new Set<string>(schema.required);
  const parameters = Object.entries(schema.properties) as [string, TextParameter][];
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
      if (!required.has(name) && !isStorable(parsed))
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
