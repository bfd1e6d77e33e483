import { HttpError } from '@rest-services/errors';
import type { TObject } from 'typebox';
import { isStorable, UNSTORABLE } from './formats.ts';
import { capitalised } from './messages.ts';

interface Parameter {
  type: string;
  minimum?: number;
  'x-as-text'?: boolean;
}

/**
 * Makes a parser of path parameters or query strings. An integer is written in decimal digits and nothing else. A query parameter that
 * does not parse counts as not sent, unless it is a string that is not UTF-8, which is a 400, as is a path parameter that does not
 * parse.
 * @param numberOf makes a number of decimal digits
 */
export function parameterParser(schema: TObject, numberOf: (digits: string) => number) {
  const required = new Set<string>(schema.required);
  const parameters = Object.entries(schema.properties) as [string, Parameter][];
  const other = parameters.find(([, { type }]) => type !== 'string' && type !== 'integer')?.[0];
  if (other !== undefined) throw new Error(`${other}: a parameter must be a string or an integer`);
  return (texts: Record<string, string | null | undefined>) => {
    const value: Record<string, unknown> = {};
    for (const [name, { type, minimum = 0, 'x-as-text': asText }] of parameters) {
      const text = texts[name];
      if (type === 'string' && text === null)
        return { error: new HttpError(400, `${capitalised(name)} is not valid UTF-8`) };
      const isInteger = typeof text === 'string' && /^\d+$/.test(text) && Number(text) >= minimum;
      if (type === 'string' ? text !== undefined : isInteger)
        value[name] = type === 'string' || asText ? text : numberOf(text!);
      else if (required.has(name)) return { error: new HttpError(400, `Invalid ${name}`) };
      // What a path names is a number in the end.
      if (!required.has(name) && typeof text === 'string' && type === 'string' && !isStorable(text))
        return { error: new HttpError(400, `${capitalised(name)} ${UNSTORABLE}`) };
    }
    return { value };
  };
}

/** Makes an id of decimal digits. A larger number than JavaScript holds exactly becomes -1, which no row has. */
export function parseId(digits: string) {
  const id = Number(digits);
  return Number.isSafeInteger(id) ? id : -1;
}

/** Makes a number of decimal digits. A larger one than JavaScript holds exactly becomes the largest exact one. */
export const parseCount = (digits: string) => Math.min(Number(digits), Number.MAX_SAFE_INTEGER);
