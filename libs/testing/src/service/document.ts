import { sendJson } from '../http/send-json.ts';

/** A JSON schema or a part of one, in which the keywords of values are known. */
export interface ValueSchema {
  type?: string | string[];
  format?: string;
  enum?: unknown[];
  minimum?: number;
  maximum?: number;
  pattern?: string;
  minLength?: number;
  maxLength?: number;
  items?: ValueSchema;
  properties?: Record<string, ValueSchema>;
  required?: string[];
  examples?: Record<string, unknown>[];
}

interface Content {
  description?: string;
  content?: { 'application/json'?: { schema: ValueSchema; example?: { message?: string } } };
}

interface Operation {
  operationId: string;
  parameters?: { in: string }[];
  requestBody?: Content;
  responses: Record<string, Content>;
}

/** The part of an OpenAPI 3.1 document that the tests read. */
export interface OpenApiDocument {
  info: { version: string };
  paths: Record<string, Record<string, Operation>>;
  components: Record<string, Record<string, object>>;
}

/** Copies a document, with each component in the place of the references to it. */
export function resolved(document: OpenApiDocument): OpenApiDocument {
  const copy = (part: unknown): unknown =>
    JSON.parse(JSON.stringify(part), (_, value: { $ref?: string } | null) => {
      const [kind, name] = value?.$ref?.split('/').slice(-2) ?? [];
      return kind === undefined ? value : copy(document.components[kind]![name!]);
    });
  return copy(document) as OpenApiDocument;
}

/** Reads the document of a service, with each component in the place of the references to it. */
export async function readDocument(url: string) {
  return resolved((await sendJson(url, 'GET', '/openapi.json')).body as OpenApiDocument);
}
