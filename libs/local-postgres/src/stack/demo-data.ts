// Fills the running stack through the services' public APIs: `npm run demo-data`. Keeps existing records.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { services, type Service } from '@rest-services/workspace';
import { inUrl, placeOf, readHost, serves } from './places.ts';

type Records = Record<string, unknown>[];

/** What `demo-data.ts` of an app exports. */
interface DemoData {
  /** Property that tells the records apart. */
  key: string;
  records: Records;
}

const apps = join(import.meta.dirname, '..', '..', '..', '..', 'apps');
const { host } = readHost();

const absent: string[] = [];
let filled = 0;
let created = 0;
try {
  for (const service of services()) {
    const file = join(apps, service.name, 'demo-data.ts');
    if (!existsSync(file)) continue;
    const url = await findService(service);
    if (url) {
      const { demoData } = (await import(pathToFileURL(file).href)) as { demoData: DemoData };
      created += await fill(url, demoData);
      filled += 1;
    } else absent.push(service.name);
  }
  if (filled === 0) throw new Error('No service responds: start them with npm start, with the same HOST and ports.');
  console.log(`${created} records created.`);
  if (absent.length > 0) console.log(`Not running: ${absent.join(', ')}.`);
} catch (error) {
  console.error((error as Error).message);
  process.exitCode = 1;
}

/** Finds a service of the whole stack, or one that runs alone. Another one may be on its port. @returns the URL of its list */
async function findService({ name, localPort, path }: Service) {
  for (const place of [placeOf(name, localPort), placeOf(name, localPort, true)]) {
    const url = `http://${inUrl(host)}:${place.port}`;
    if (await serves(url, path)) return url + path;
  }
  return undefined;
}

/** Creates the records that the list lacks. @returns their number */
async function fill(url: string, { key, records }: DemoData) {
  const present = new Set((await allRecords(url)).map((record) => record[key]));
  const missing = records.filter((record) => !present.has(record[key]));
  const headers = { 'content-type': 'application/json' };
  for (const record of missing) await send(url, { method: 'POST', headers, body: JSON.stringify(record) });
  return missing.length;
}

/** Reads a list, and the pages that its `Link` header leads to. */
async function allRecords(url: string) {
  const records: Records = [];
  for (let page: string | undefined = url; page;) {
    const response = await send(page);
    const body = (await response.json()) as Records | { data: Records };
    records.push(...('data' in body ? body.data : body));
    const next = /<([^>]+)>; rel="next"/.exec(response.headers.get('link') ?? '')?.[1];
    page = next && new URL(next, url).href;
  }
  return records;
}

async function send(url: string, init?: RequestInit) {
  const response = await fetch(url, init).catch((error: unknown) => {
    throw new Error(`${url} cannot be reached`, { cause: error });
  });
  if (!response.ok) throw new Error(`${url} responded ${response.status} ${await response.text()}`);
  return response;
}
