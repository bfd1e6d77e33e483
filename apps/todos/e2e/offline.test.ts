import { hash } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { hides, isLoaded, settles, shows, useService } from '../test/browser.ts';

const ui = useService();
const { page, proxy, open, service, setOffline, store, stored, change, rows, link, checkbox, button, heading } = ui;
const { description } = ui;

/** Opens the list twice: the service worker keeps the one that it has fetched. */
async function openTwice(...todos: string[]) {
  await open('/todos', ...todos);
  await page().reload();
  await isLoaded(page());
}

test('Offline, the list has what this browser wrote last, though none was read since', async () => {
  await openTwice('Buy milk', 'Rest');
  // An earlier change of it is seen by itself.
  await link('Details: Buy milk').click();
  await button('Mark as done').click();
  await settles(async () => [proxy.statuses('PUT').at(-1), await page().getByText('not sent yet').count()], [200, 0]);
  await ui.lookAgain();
  await settles(() => proxy.seen.at(-1), expect.objectContaining({ path: '/api/todos/1', status: 200 }));
  await button('Open it again').click();
  await settles(stored, ['Buy milk', 'Rest']);
  await hides(page(), 'not sent yet');
  await link('All todos').first().click();
  await settles(() => proxy.seen.at(-1), expect.objectContaining({ path: '/api/todos', status: expect.any(Number) }));
  await ui.add('Buy bread');
  await checkbox('Rest').check();
  await settles(stored, ['Buy milk', '✓ Rest', 'Buy bread']);
  await hides(page(), 'not sent yet');
  const methods = proxy.seen.map(({ method }) => method);
  expect(methods.slice(methods.indexOf('POST'))).not.toContain('GET');
  await setOffline(true);
  await page().reload();
  await settles(rows, ['Buy bread', 'Buy milk', 'Rest']);
  await page().getByRole('checkbox', { name: 'Rest', checked: true }).waitFor();
  expect(await checkbox('Buy milk').isChecked()).toBe(false);
  expect(await page().getByText('not sent yet').count()).toBe(0);
});

test('Offline, the list is no portal’s page, and opens what was never opened before', async () => {
  await openTwice('Buy milk', 'Rest');
  const portal = { status: 200, headers: { 'content-type': 'text/html' }, body: '<h1>Log in</h1>' };
  proxy.fault = () => ({ answer: portal });
  await page().reload();
  await shows(page(), 'The server has a problem.');
  await setOffline(true);
  await page().reload();
  await settles(rows, ['Rest', 'Buy milk']);
  await page().goto('/todos/2');
  await heading('Rest').waitFor();
  await shows(page(), 'You are offline.');
  await page().goto('/todos/edit/1');
  await settles(() => description().inputValue(), 'Buy milk');
  await page().goto('/todos/3');
  await shows(page(), 'Todo 3 could not be loaded.');
});

test.each(['/todos', '/todos/1'])('A slow storage hides nothing that others have written: %s', async (path) => {
  await store('Buy milk');
  await open('/todos');
  await checkbox('Buy milk').check();
  await settles(stored, ['✓ Buy milk']);
  await hides(page(), 'not sent yet');
  await change(1, 'Buy oat milk');
  await page().addInitScript(() => {
    const released = new Promise((resolve) => addEventListener('release', resolve));
    Object.defineProperty(IDBTransaction.prototype, 'oncomplete', {
      set(this: IDBTransaction, done: () => void) {
        this.addEventListener('complete', () => void released.then(done));
      },
    });
  });
  const loaded = page().waitForResponse(`**/api${path}`);
  await page().goto(path);
  await (await loaded).finished();
  await page().evaluate(() => new Promise((resolve) => setTimeout(() => setTimeout(resolve))));
  await page().evaluate(() => dispatchEvent(new Event('release')));
  await shows(page(), 'Buy oat milk');
  await hides(page(), 'Loading…');
  await page().evaluate(() => new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve))));
  expect(await page().getByText('Buy milk').count()).toBe(0);
});

test('“The server cannot be reached” goes when it is back, and nothing is lost', async () => {
  const cannot = 'The server cannot be reached. What is shown may be out of date.';
  const looks = () => page().clock.runFor(16_000);
  await page().clock.install();
  await openTwice('Buy milk');
  await store('Buy bread');
  await looks();
  await settles(rows, ['Buy bread', 'Buy milk']);
  proxy.fault = () => ({ lose: 'request' });
  proxy.pageFault = proxy.fault;
  await looks();
  await shows(page(), cannot);
  proxy.fault = undefined;
  proxy.seen.length = 0;
  await looks();
  await hides(page(), cannot);
  // Nothing has changed.
  expect(proxy.statuses('GET')).toEqual([304]);

  proxy.fault = proxy.pageFault;
  await ui.add('Rest');
  await shows(page(), /^The server cannot be reached\. .*1 change is not sent yet\./);
  await page().reload();
  await shows(page(), /^The server cannot be reached\. .*1 change is not sent yet\./);
  await settles(rows, ['Rest\nNot sent yet', 'Buy bread', 'Buy milk']);
  proxy.fault = undefined;
  await store('Buy soap');
  await button('Try again').click();
  await settles(stored, ['Buy milk', 'Buy bread', 'Buy soap', 'Rest']);
  await hides(page(), 'not sent yet');
  await ui.hasFocus('h1');
  await looks();
  await settles(rows, ['Rest', 'Buy soap', 'Buy bread', 'Buy milk']);

  proxy.fault = proxy.pageFault;
  await looks();
  await shows(page(), cannot);
  await link('New todo').click();
  proxy.fault = undefined;
  await hides(page(), cannot);
});

test('The pages can be installed', async () => {
  await open('/');
  const devtools = await page().context().newCDPSession(page());
  const { installabilityErrors } = await devtools.send('Page.getInstallabilityErrors');
  // A window without a profile cannot install anything.
  expect(installabilityErrors.filter(({ errorId }) => errorId !== 'in-incognito')).toEqual([]);
  const { errors } = await devtools.send('Page.getAppManifest');
  expect(errors).toEqual([]);
});

test('The page of another release runs its own script at once, then offline too', async () => {
  await open('/');
  const builds = () => page().evaluate(async () => (await caches.keys()).filter((name) => name.startsWith('build')));
  const [build] = await builds();
  const next = await nextRelease();
  expect(await page().locator('html[data-release]').count()).toBe(0);
  proxy.pageFault = ({ url }) => next.get(url);
  await page().reload();
  await page().locator('html[data-release=next]').waitFor();
  await settles(async () => (await builds()).includes(build!), false);
  await setOffline(true);
  await page().reload();
  await page().locator('html[data-release=next]').waitFor();
});

/** Makes the responses of a release whose script and index page are others, by their paths. */
async function nextRelease() {
  const read = async (path: string) => (await fetch(service().url + path)).text();
  const [html, worker] = [await read('/'), await read('/sw.js')];
  const [path] = /\/assets\/[^"]+\.js/.exec(html)!;
  const script = await read(path);
  const next = {
    html: html.replaceAll(path, '/assets/next.js'),
    script: `document.documentElement.dataset.release='next';${script}`,
  };
  const digest = (text: string) => hash('sha256', text, 'base64');
  const nextWorker = worker
    .replaceAll(path, '/assets/next.js')
    .replaceAll(digest(script), digest(next.script))
    .replaceAll(digest(html), digest(next.html));
  const answer = (type: string, body: string) => ({ answer: { status: 200, headers: { 'content-type': type }, body } });
  return new Map<string | undefined, ReturnType<typeof answer>>([
    ['/', answer('text/html', next.html)],
    ['/assets/next.js', answer('text/javascript', next.script)],
    ['/sw.js', answer('text/javascript', nextWorker)],
  ]);
}
