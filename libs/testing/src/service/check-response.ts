import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { sendJson } from '../http/send-json.ts';
import { readDocument, type OpenApiDocument } from './document.ts';

/**
 * Makes a function that sends `body` as JSON, or as it is when it is a string.
 * @throws Error when the service's OpenAPI document lacks the response, or a body is not JSON by its type
 */
export function checkedRequests(url: string) {
  let checker: Promise<ReturnType<typeof responseChecker>> | undefined;
  return async (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) => {
    const response = await sendJson(url, method, path, body, headers);
    checker ??= readDocument(url).then(responseChecker);
    (await checker)(method, path, response.status, response.body);
    const type = response.headers.get('content-type');
    if (response.body !== undefined && type !== 'application/json; charset=utf-8')
      throw new Error(`The response to ${method} ${path} has the type ${type}`);
    return response;
  };
}

/** Statuses that have the same message whenever an operation responds with them, but for an id. */
const ONE_MESSAGE = [404, 409, 412, 422];

const withoutNumbers = (message?: string) => message?.replaceAll(/\d+/g, 'N');

/**
 * Makes a function that compares the status and the body of a response with the document, which has to name each property, and the
 * message of an error that has one message alone. Responses of paths that the document lacks pass.
 * @param document has no references
 */
function responseChecker({ paths }: OpenApiDocument) {
  const ajv = new Ajv2020({
    strict: false,
    formats: { 'date-time': (text: string) => /^\d{4}-.+T.+\.\d{3}Z$/.test(text), int64: Number.isSafeInteger },
  });
  const validators = new Map<object, ValidateFunction>();
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
    const { schema, example } = response.content?.['application/json'] ?? {};
    if (method === 'HEAD' || !schema) return;
    const { message } = (body ?? {}) as { message?: string };
    if (ONE_MESSAGE.includes(status) && withoutNumbers(message) !== withoutNumbers(example?.message))
      throw new Error(`The message of ${status} to ${method} ${path} differs from the document: ${message}`);
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
