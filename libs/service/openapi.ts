// `nx openapi NAME` runs this in the folder of a service: writes openapi.json from its sources. Connects to no database.
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Database } from '@rest-services/database';
import { loadSettings, type Settings } from './src/settings.ts';

interface App {
  ready: () => Promise<void>;
  swagger: () => object;
  close: () => Promise<void>;
}
type BuildApp = (db: Database<unknown>, settings: Settings) => Promise<App>;

const { version } = JSON.parse(await readFile('package.json', 'utf8')) as { version: string };
// Set before the import: the bundle has it as a constant.
process.env.SERVICE_VERSION = version;
const { buildApp } = (await import(pathToFileURL(join(process.cwd(), 'src/app.ts')).href)) as { buildApp: BuildApp };

const url = 'postgres://localhost/none';
const db = new Database({ url, poolMax: 1, onConnectionError: () => undefined });
const app = await buildApp(db, loadSettings({ DATABASE_URL: url, LOG_LEVEL: 'silent' }, 0));
await app.ready();
await writeFile('openapi.json', `${JSON.stringify(app.swagger(), null, 2)}\n`);
await app.close();
await db.destroy();
