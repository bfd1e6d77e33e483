import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Database } from '@rest-services/database';
import { services } from '@rest-services/workspace';
import { loadSettings, type Settings } from '../../libs/service/src/settings.ts';

interface App {
  ready: () => Promise<void>;
  swagger: () => object;
  close: () => Promise<void>;
}

const workspace = join(import.meta.dirname, '../..');

/** The file with the document that the last release of a service has. */
export const releasedDocument = (service: string) => join(workspace, 'apps', service, 'openapi.json');

/** Makes the document of a service from its sources. Connects to no database. */
export async function makeDocument(service: string): Promise<object> {
  const url = 'postgres://localhost/none';
  const { buildApp } = (await import(pathToFileURL(join(workspace, 'apps', service, 'src/app.ts')).href)) as {
    buildApp: (db: Database<unknown>, settings: Settings) => Promise<App>;
  };
  const db = new Database({ url, poolMax: 1, onConnectionError: () => undefined });
  const app = await buildApp(db, loadSettings({ DATABASE_URL: url, LOG_LEVEL: 'silent' }, 0));
  await app.ready();
  const document = JSON.parse(JSON.stringify(app.swagger())) as object;
  await app.close();
  await db.destroy();
  return document;
}

/** Writes the document of each service, which a release does: `npm run documents`, or `npm run documents -- items`. */
export async function writeDocuments(names: string[]) {
  for (const { name } of services()) {
    if (names.length > 0 && !names.includes(name)) continue;
    writeFileSync(releasedDocument(name), `${JSON.stringify(await makeDocument(name), null, 2)}\n`);
  }
}

if (import.meta.main) await writeDocuments(process.argv.slice(2));
