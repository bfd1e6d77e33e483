// Fills those services of the local stack that run through their public APIs: `npm run demo-data`. Keeps existing records.
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { services } from '@rest-services/workspace';
import { workspace } from './children.ts';
import { inUrl, placeOf, readHost } from './places.ts';

const { host } = readHost();
const filled: string[] = [];
for (const { name, localPort, path } of services()) {
  const url = `http://${inUrl(host)}:${placeOf(name, localPort).port}${path}`;
  const list = await fetch(`${url}?limit=10000`).catch(() => undefined);
  if (!list?.ok) {
    console.warn(`${name} does not run at ${url}.`);
    continue;
  }
  const existing = await list.text();
  const file = join(workspace, 'apps', name, 'demo-data.ts');
  const { demoData } = (await import(pathToFileURL(file).href)) as { demoData: object[] };
  for (const record of demoData) {
    const [text] = Object.values(record) as unknown[];
    if (existing.includes(JSON.stringify(text))) continue;
    const headers = { 'content-type': 'application/json' };
    const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(record) });
    // A language on a further page has the name.
    if (response.ok || response.status === 409) continue;
    throw new Error(`${url} responded ${response.status} ${await response.text()}`);
  }
  filled.push(name);
}
if (filled.length > 0) console.log(`Filled ${filled.join(', ')}.`);
else {
  console.error('No service responds: start them with npm start, with the same HOST, ITEMS_PORT and the like.');
  process.exitCode = 1;
}
