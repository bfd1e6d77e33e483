import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { resolved, type OpenApiDocument } from './document.ts';

/**
 * Makes a function that compares the status and the body of a response with the document, which has to name each property.
 * Responses of paths that the document lacks pass.
 */
export function responseChecker(document: OpenApiDocument) {
  const ajv = new Ajv2020({
    strict: false,
    formats: { 'date-time': (text: string) => /^\d{4}-.+T.+\.\d{3}Z$/.test(text), int64: Number.isSafeInteger },
  });
  const validators = new Map<object, ValidateFunction>();
  const { paths } = resolved(document);
  const templates = Object.keys(paths)
    // A fixed path precedes one with a parameter, as in the router.
    .sort((a, b) => Number(a.includes('{')) - Number(b.includes('{')))
    .map((template) => ({ template, pattern: new RegExp(`^${template.replaceAll(/\{[^}]+\}/g, '[^/]+')}/?$`) }));

  return (method: string, path: string, status: number, body: unknown) => {
    const { pathname } = new URL(path, 'http://service');
    const template = templates.find(({ pattern }) => pattern.test(pathname))?.template;
    const operation = template && paths[template]![method === 'HEAD' ? 'get' : method.toLowerCase()];
    if (!operation) return;
    const response = operation.responses[status];
    if (!response) throw new Error(`The document lacks the response ${status} to ${method} ${path}`);
    const schema = response.content?.['application/json']?.schema;
    if (method === 'HEAD' || !schema) return;
    const validate = validators.get(schema) ?? ajv.compile(closed(schema));
    validators.set(schema, validate);
    if (!validate(body)) {
      const differences = ajv.errorsText(validate.errors);
      throw new Error(
        `The body of the response ${status} to ${method} ${path} differs from the document: ${differences}`,
      );
    }
  };
}

/** Copies a schema, so that each object in it allows no properties but its own. */
function closed(schema: object): object {
  return JSON.parse(JSON.stringify(schema), (_, value: unknown) => {
    const isObject = typeof value === 'object' && value !== null && 'properties' in value && 'type' in value;
    return isObject ? { additionalProperties: false, ...value } : value;
  }) as object;
}
