import type { FastifySchemaCompiler } from 'fastify';
import type { TObject, TSchema } from 'typebox';
import { bodyValidator } from './body.ts';
import { parameterParser, parseCount, parseId } from './parameters.ts';
import { urlEncodedReader } from './url-encoded.ts';

/** Checks bodies, which hold typed JSON, without conversion, and parses parameters, which are strings. */
export const compileValidator: FastifySchemaCompiler<TSchema> = ({ schema, httpPart }) => {
  // A handler checks the headers that its schema documents.
  if (httpPart === 'headers') return () => true;
  if (httpPart === 'body') return bodyValidator(schema as TObject);
  if (httpPart === 'params') return parameterParser(schema as TObject, parseId);
  const parse = parameterParser(schema as TObject, parseCount);
  const read = urlEncodedReader(Object.keys((schema as TObject).properties));
  return ({ text }: { text: string }) => parse(read(text));
};
