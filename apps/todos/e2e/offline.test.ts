import { cp, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { createHash } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { processesOf, startProcess } from '@rest-services/testing';
import { hides, openWithWorker, settles, shows, useService } from '../test/browser.ts';

const { page, service, open, setOffline, store, link, button, checkbox, description } = useService();

describe('Offline, a reload shows again', () => {
  test.each([
    ['home', '/', 'text=1 open'],
    ['the list', '/todos', 'li >> text=Buy milk'],
    ['a todo', '/todos/1', 'h1:has-text("Buy milk")'],
    ['the form', '/todos/edit/1', 'textarea'],
  ])('%s, seen once', async (_name, path, content) => {
    await open(path, 'Buy milk');
    await setOffline(true);
    await page().reload();
    await page().locator(content).waitFor();
    await shows(page(), 'You are offline. What is shown may be out of date');
  });

  test('the latest that was seen, and what has changed since when the network is back', async () => {
    await store('Buy milk');
    await page().clock.install();
    await open('/todos');
    await store('Buy bread');
    await page().reload();
    await shows(page(), 'Buy bread');
    await setOffline(true);
    await page().reload();
    await shows(page(), 'Buy bread');
    await store('Buy soap');
    await setOffline(false);
    // The service worker may be back online after the page: then a later look, 15 s after the last one, finds the network.
    const looksAgain = async () => {
      await page().clock.runFor(15_000);
      return link('Details: Buy soap').count();
    };
    await settles(looksAgain, 1);
    await hides(page(), 'You are offline.');
  });
});

test('The pages can be installed', async () => {
  await open('/');
  const devtools = await page().context().newCDPSession(page());
  const { installabilityErrors } = await devtools.send('Page.getInstallabilityErrors');
  // A window without a profile cannot install anything.
  expect(installabilityErrors.filter(({ errorId }) => errorId !== 'in-incognito')).toEqual([]);
  const { data, errors } = await devtools.send('Page.getAppManifest');
  expect(errors).toEqual([]);
  const { icons } = JSON.parse(data!) as { icons: { src: string; sizes: string; purpose?: string }[] };
  expect(icons.map(({ sizes, purpose }) => [sizes, purpose])).toEqual([
    ['192x192', undefined],
    ['512x512', undefined],
    ['512x512', 'maskable'],
  ]);
  for (const { src, sizes } of icons) {
    const png = Buffer.from(await (await fetch(service().url + src)).arrayBuffer());
    expect([src, `${png.readUInt32BE(16)}x${png.readUInt32BE(20)}`]).toEqual([src, sizes]);
  }
});

describe('When the service is', () => {
  const processes = processesOf('dist/main.js');
  const settings = { NODE_ENV: 'production', SHUTDOWN_DELAY_MS: '0' };
  let nextBuild: string;
  beforeAll(async () => {
    nextBuild = await buildNext();
  });
  afterAll(() => rm(nextBuild, { recursive: true }));

  async function stop(service: ReturnType<typeof startProcess>) {
    service.child.kill('SIGKILL');
    await service.ended;
  }

  test('away, the page shows what it has; nothing that was typed is lost, and all works when it is back', async () => {
    const first = processes.start(settings);
    const url = await first.listening();
    await openWithWorker(page(), `${url}/todos/new`);
    await description().fill('Buy milk');
    await stop(first);
    await button('Save').click();
    await checkbox('Buy milk').waitFor();
    await shows(page(), /^The server cannot be reached\. .* 1 change is not sent yet\./);
    await page().reload();
    await shows(page(), /^The server cannot be reached\. .* 1 change is not sent yet\./);

    const second = processes.start({ ...settings, PORT: new URL(url).port });
    await second.listening();
    await hides(page(), 'not sent yet');
    await checkbox('Buy milk').check();
    await shows(page(), /^“Buy milk” is done\.$/);
    await page().reload();
    await page().getByRole('link', { name: 'Done 1' }).waitFor();
    await stop(second);
    await page().reload();
    await page().getByRole('checkbox', { name: 'Buy milk', checked: true }).waitFor();
    await shows(page(), 'The server cannot be reached. What is shown may be out of date.');
  });

  test('another release, its page runs its own script at once, then offline too', async () => {
    const first = processes.start(settings);
    const url = await first.listening();
    await openWithWorker(page(), url);
    const [build] = await page().evaluate(() => caches.keys());
    expect(await page().locator('html').getAttribute('data-release')).toBeNull();
    await stop(first);

    const ofNext = { ...settings, DATABASE_URL: processes.database.url, PORT: new URL(url).port };
    const second = startProcess(join(nextBuild, 'main.js'), ofNext);
    await second.listening();
    await page().reload();
    await page().locator('html[data-release=next]').waitFor();
    await settles(async () => (await page().evaluate(() => caches.keys())).includes(build!), false);
    await stop(second);
    await page().reload();
    await page().locator('html[data-release=next]').waitFor();
  });
});

/** Makes a build whose script and index page differ. @returns its folder */
async function buildNext() {
  const folder = await mkdtemp(join(tmpdir(), 'todos-'));
  await cp('dist', folder, { recursive: true });
  const inPublic = (...path: string[]) => join(folder, 'public', ...path);
  for (const path of ['', 'assets']) {
    for (const name of await readdir(inPublic(path))) if (/\.(br|gz)$/.test(name)) await rm(inPublic(path, name));
  }
  const script = (await readdir(inPublic('assets'))).find((name) => name.endsWith('.js'))!;
  let worker = await readFile(inPublic('sw.js'), 'utf8');
  const edit = async (path: string, change: (text: string) => string) => {
    const before = await readFile(inPublic(path), 'utf8');
    await writeFile(inPublic(path), change(before));
    worker = worker.replaceAll(digest(before), digest(change(before)));
  };
  await edit(join('assets', script), (text) => `document.documentElement.dataset.release='next';${text}`);
  await rename(inPublic('assets', script), inPublic('assets', 'index-next.js'));
  await edit('index.html', (text) => text.replace(script, 'index-next.js'));
  await writeFile(inPublic('sw.js'), worker.replaceAll(script, 'index-next.js'));
  return folder;
}

const digest = (text: string) => `sha256-${createHash('sha256').update(text).digest('base64')}`;
