import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';

/** What is needed here of an OpenAPI 3.1 document. */
export interface OpenApiDocument {
  paths: Record<
    string,
    Record<string, { responses: Record<string, { content?: Record<string, { schema: object }> }> }>
  >;
}

/**
 * Makes a function that compares an answer with the document: its status and the shape of its body must be there.
 * Paths that the document does not have are not looked at.
 */
export function documentChecker({ paths }: OpenApiDocument) {
  const ajv = new Ajv2020({
    strict: false,
    formats: { 'date-time': (text: string) => /^\d{4}-.+T.+\.\d{3}Z$/.test(text) },
  });
  const validators = new Map<object, ValidateFunction>();
  const templates = Object.keys(paths)
    // A fixed path before one with a parameter, as the router has it.
    .sort((a, b) => Number(a.includes('{')) - Number(b.includes('{')))
    .map((template) => ({ template, pattern: new RegExp(`^${template.replaceAll(/\{[^}]+\}/g, '[^/]+')}/?$`) }));

  return (method: string, path: string, status: number, body: unknown) => {
    const { pathname } = new URL(path, 'http://service');
    const template = templates.find(({ pattern }) => pattern.test(pathname))?.template;
    const operation = template && paths[template]![method === 'HEAD' ? 'get' : method.toLowerCase()];
    if (!operation) return;
    const answer = operation.responses[status];
    if (!answer) throw new Error(`${method} ${path} answered ${status}, which the document does not have`);
    const schema = answer.content?.['application/json']?.schema;
    if (method === 'HEAD' || !schema) return;
    const validate = validators.get(schema) ?? ajv.compile(schema);
    validators.set(schema, validate);
    if (!validate(body)) {
      throw new Error(
        `${method} ${path} answered ${status} with another body than the document has: ${ajv.errorsText(validate.errors)}`,
      );
    }
  };
}
