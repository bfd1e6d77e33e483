// Fills the running stack through the services' public APIs: `npm run demo-data`. Keeps existing records.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { services, type Service } from '@rest-services/workspace';
import { SingleBar, Presets } from 'cli-progress';
import { inUrl, portAlone, portOf, readHost } from './places.ts';

/** What `demo-data.ts` of an app exports. */
interface DemoData {
  /** Property that tells the records apart. */
  key: string;
  records: Record<string, unknown>[];
}

const apps = join(import.meta.dirname, '..', '..', '..', '..', 'apps');
const { host } = readHost();

const filled = services()
  .map((service) => ({ ...service, file: join(apps, service.name, 'demo-data.ts') }))
  .filter(({ file }) => existsSync(file));
const found = await Promise.all(filled.map(async (service) => ({ ...service, url: await findService(service) })));
const running = found.flatMap((service) => (service.url ? { ...service, url: service.url } : []));
if (running.length === 0) {
  console.error('No service responds: start them with npm start, with the same HOST and ports.');
  process.exit(1);
}
const wanted = await Promise.all(
  running.map(async ({ name, url, file }) => {
    const { demoData } = (await import(pathToFileURL(file).href)) as { demoData: DemoData };
    return { service: name, url, ...demoData };
  }),
);

const bar = new SingleBar(
  { format: '{bar} {value}/{total} {service}', clearOnComplete: false, noTTYOutput: true, notTTYSchedule: 1_000 },
  Presets.shades_classic,
);
bar.start(wanted.flatMap(({ records }) => records).length, 0, { service: '' });
let created = 0;
try {
  for (const { service, url, key, records } of wanted) {
    const present = new Set((await allRecords(url)).map((record) => record[key]));
    for (const record of records) {
      if (!present.has(record[key])) {
        await create(url, record);
        created += 1;
      }
      bar.increment(1, { service });
    }
  }
} catch (error) {
  bar.stop();
  console.error((error as Error).message);
  process.exit(1);
}
bar.stop();
console.log(`${created} records created.`);
const absent = found.filter(({ url }) => !url).map(({ name }) => name);
if (absent.length > 0) console.log(`Not running: ${absent.join(', ')}.`);

/** Finds a service of the whole stack, or one that runs alone. Another one may be on its port. @returns the URL of its list */
async function findService({ name, port, localPort, path }: Service) {
  for (const candidate of new Set([portOf(name, localPort), portAlone(name, port)])) {
    const base = `http://${inUrl(host)}:${candidate}`;
    const document = await fetch(`${base}/openapi.json`)
      .then((response) => response.json() as Promise<{ paths?: object }>)
      .catch(() => undefined);
    if (document?.paths && path in document.paths) return base + path;
  }
  return undefined;
}

/** Reads a list, and the pages that its `Link` header leads to. */
async function allRecords(url: string) {
  type Records = Record<string, unknown>[];
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

async function create(url: string, record: unknown) {
  await send(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(record) });
}

async function send(url: string, init?: RequestInit) {
  const response = await fetch(url, init).catch((error: unknown) => {
    throw new Error(`${url} cannot be reached`, { cause: error });
  });
  if (!response.ok) throw new Error(`${url} responded ${response.status} ${await response.text()}`);
  return response;
}
