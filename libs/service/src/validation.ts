import { HttpError } from '@rest-services/errors';
import { Ajv, type ErrorObject } from 'ajv';
import type { FastifySchemaCompiler } from 'fastify';
import type { TObject, TSchema } from 'typebox';

/** Annotation for a body property: a string with nothing but white space in it counts as not sent. */
export const absentIfBlank = { 'x-absent-if': 'blank' };

/** The same for the empty string alone. */
export const absentIfEmpty = { 'x-absent-if': 'empty' };

// Lengths are counted in code points: Ajv's `unicode` option, on by default.
const ajv = new Ajv({
  verbose: true,
  allowUnionTypes: true,
  keywords: ['x-absent-if'],
  formats: { 'date-time': true },
});

/** Bodies hold typed JSON, which is checked and never converted; everything else is text, which is parsed. */
export const compileValidator: FastifySchemaCompiler<TSchema> = ({ schema, httpPart }) =>
  httpPart === 'body' ? bodyValidator(schema as TObject) : textParser(schema as TObject);

function bodyValidator(schema: TObject) {
  const validate = ajv.compile(schema);
  return (body: unknown) => {
    // Fastify passes null when there is no body, which means the same as an empty object.
    const value = present(schema, body ?? {});
    if (value === undefined) return { error: new HttpError(400, 'Body must be a JSON object') };
    if (!validate(value)) return { error: new HttpError(400, inWords(validate.errors![0]!)) };
    const unstorable = Object.keys(schema.properties).find((name) => !isStorable(value[name]));
    return unstorable === undefined
      ? { value }
      : { error: new HttpError(400, `${capitalised(unstorable)} ${unstorableText}`) };
  };
}

/** The known properties of `body` that count as sent, which null never does; `undefined` when it is no object. */
function present(schema: TObject, body: unknown): Record<string, unknown> | undefined {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return undefined;
  const given = body as Record<string, unknown>;
  const sent = Object.entries(schema.properties as Record<string, BodyProperty>)
    .map(([name, property]) => [name, property, Object.hasOwn(given, name) ? given[name] : null] as const)
    .filter(([, property, value]) => value !== null && !isNothing(value, property['x-absent-if']));
  return Object.fromEntries(sent.map(([name, , value]) => [name, value]));
}

interface BodyProperty extends TSchema {
  'x-absent-if'?: 'blank' | 'empty';
}

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
  const { enum: values } = parentSchema as { enum?: string[] };
  if (values) return `${field} must be ${values.join(' or ')}`;
  switch (keyword) {
    case 'required':
      return `${field} cannot be empty`;
    case 'type':
      return `${field} must be a ${allowed.type}`;
    case 'maxLength':
      return `${field} must be at most ${allowed.limit} characters`;
    default:
      return `${field} is not valid`;
  }
}

const capitalised = (name: string) => name.charAt(0).toUpperCase() + name.slice(1);

/**
 * Path parameters and query strings. An integer is written in decimal digits and nothing else; one that JavaScript does
 * not hold exactly becomes the largest that it does, which no row has. Of a repeated query parameter the first counts.
 * A query parameter that does not parse counts as not sent; a path parameter that does not is a 400.
 */
function textParser(schema: TObject) {
  const required = new Set<string>(schema.required);
  const parameters = Object.entries(schema.properties) as [string, { type: string; minimum?: number }][];
  return (texts: Record<string, string | string[] | undefined>) => {
    const value: Record<string, unknown> = {};
    for (const [name, { type, minimum = 0 }] of parameters) {
      const text = [texts[name]].flat()[0];
      const parsed = type === 'integer' ? parseInteger(text, minimum) : text;
      if (parsed !== undefined) value[name] = parsed;
      else if (required.has(name)) return { error: new HttpError(400, `Invalid ${name}`) };
      if (!isStorable(parsed)) return { error: new HttpError(400, `${capitalised(name)} ${unstorableText}`) };
    }
    return { value };
  };
}

function parseInteger(text: string | undefined, minimum: number) {
  if (text === undefined || !/^\d+$/.test(text) || Number(text) < minimum) return undefined;
  return Math.min(Number(text), Number.MAX_SAFE_INTEGER);
}
