import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import openapiTS, { astToString, type OpenAPI3 } from 'openapi-typescript';

const notice = '// Made from the OpenAPI document of the service: npm run generate-client\n\n';

/**
 * Reads the types that `libs/client` has for a service, and generates them from its document. `GENERATE_CLIENT=true` in the
 * environment writes the generated types to `libs/client` first.
 */
export async function clientTypes(service: string, document: object) {
  const file = join(import.meta.dirname, '..', '..', '..', 'client', 'src', 'generated', `${service}.ts`);
  const made = notice + astToString(await openapiTS(document as OpenAPI3));
  if (process.env.GENERATE_CLIENT === 'true') {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, made);
  }
  return { kept: existsSync(file) ? readFileSync(file, 'utf8') : '', made };
}
