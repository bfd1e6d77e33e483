import { describe, expect, test } from '@jest/globals';
import { hides, openWithWorker, settles, shows, useService } from '../test/browser.ts';
import { forEver } from '../test/proxy.ts';

const ui = useService();
const {
  page,
  open,
  proxy,
  store,
  stored,
  change,
  rows,
  checkbox,
  description,
  button,
  link,
  heading,
  add,
  setOffline,
} = ui;

/** Ways in which browsers do not give what a page asks for, because cookies are blocked, a disk is full, or for no reason. */
const ways = ['undefined', 'throws', 'rejects', 'never answers'] as const;

/** Makes a part of the browser fail, in a page or in the service worker. */
function fail([part, way]: [string, (typeof ways)[number]]) {
  const act = {
    undefined: () => undefined,
    throws() {
      throw new DOMException('Blocked', 'SecurityError');
    },
    rejects: () => Promise.reject(new DOMException('Blocked', 'SecurityError')),
    'never answers': () => new Promise(() => undefined),
  }[way];
  const put = (at: object, name: string, get: () => unknown) => Object.defineProperty(at, name, { get });
  const of: Record<string, () => unknown> = {
    indexedDB: () =>
      put(indexedDB, 'open', () => () => {
        if (way === 'throws') void act();
        const request = {} as IDBOpenDBRequest;
        if (way === 'rejects') setTimeout(() => void request.onerror!(new Event('error')));
        return request;
      }),
    locks: () => put(navigator.locks, 'request', () => act),
    caches: () => ['open', 'match', 'keys'].forEach((name) => put(caches, name, () => act)),
    serviceWorker: () => put(navigator.serviceWorker, 'register', () => act),
  };
  const hasNoMethods = of[part] === undefined;
  if (way !== 'undefined' && !hasNoMethods) of[part]!();
  // Its getter or its constructor throws, or the others are never heard.
  else if (part === 'BroadcastChannel' && way !== 'undefined') {
    if (way === 'throws') Object.assign(globalThis, { BroadcastChannel: act });
    else BroadcastChannel.prototype.postMessage = () => undefined;
  } else {
    const at = part in navigator ? navigator : globalThis;
    put(at, part, way === 'throws' ? act : () => undefined);
  }
}

const parts = ['indexedDB', 'locks', 'BroadcastChannel', 'caches', 'serviceWorker', 'localStorage', 'sessionStorage'];

test.each(parts.flatMap((part) => ways.map((way) => [part, way] as const)))(
  'Where %s %s, what is done is sent, and shown after a reload',
  async (part, way) => {
    await open('/todos', 'Buy milk');
    const [worker] = page().context().serviceWorkers();
    if (part === 'caches') await worker!.evaluate(fail, [part, way] as [string, typeof way]);
    else await page().addInitScript(fail, [part, way] as [string, typeof way]);
    for (const text of ['Buy bread', 'Rest']) {
      await page().reload();
      await checkbox('Buy milk').click();
      await add(text);
      await settles(async () => (await stored()).includes(text), true);
      await button('Add').waitFor();
      await hides(page(), 'Not sent yet');
    }
    await settles(stored, ['Buy milk', 'Buy bread', 'Rest']);
    await settles(rows, ['Rest', 'Buy bread', 'Buy milk']);
    expect(proxy().seen.length).toBeLessThan(40);
  },
);

test('Without https a browser neither hashes nor locks, and overwrites nothing either', async () => {
  await store('Buy milk', 'Rest');
  await page().addInitScript(() => {
    Object.defineProperty(crypto, 'subtle', { value: undefined });
    Object.defineProperty(navigator, 'locks', { value: undefined });
  });
  await page().goto('/todos');
  await checkbox('Buy milk').waitFor();
  await change(1, 'Buy oat milk');
  await checkbox('Buy milk').check();
  await checkbox('Rest').check();
  await add('Buy bread');
  await settles(stored, ['✓ Buy oat milk', '✓ Rest', 'Buy bread']);
});

test('A browser that stores nothing says so while there is something to send', async () => {
  await page().addInitScript(fail, ['indexedDB', 'throws'] as [string, (typeof ways)[number]]);
  await page().goto('/todos');
  await setOffline(true);
  await add('Buy bread');
  await shows(page(), '1 change is not sent yet. This browser stores nothing: leave the page open until then.');
  await setOffline(false);
  await settles(stored, ['Buy bread']);
  await hides(page(), 'stores nothing');
});

describe('A change does not wait', () => {
  test('for one of another field that a person has to decide about', async () => {
    await open('/todos/edit/1', 'Buy milk');
    await setOffline(true);
    await description().fill('Buy oat milk');
    await button('Save').click();
    await button('Mark as done').click();
    await change(1, 'Buy rye bread');
    await setOffline(false);
    await settles(stored, ['✓ Buy rye bread']);
    await shows(page(), '“Buy oat milk” is not saved. It has been changed meanwhile.');
    await button('Open it again').click();
    await settles(stored, ['Buy rye bread']);
  });

  test('for a slow tab; another takes over when that is closed', async () => {
    await open('/todos');
    const other = await page().context().newPage();
    await openWithWorker(other, `${proxy().url}/todos`);
    let isHeld = false;
    proxy().fault = ({ method }) => {
      if (method !== 'POST' || isHeld) return undefined;
      isHeld = true;
      return { before: forEver };
    };
    await add('Slow');
    await settles(() => isHeld, true);
    await other.getByRole('textbox', { name: 'New todo' }).fill('Quick');
    await other.keyboard.press('Enter');
    await settles(stored, ['Quick']);
    await shows(other, 'Another tab is sending. 1 change is not sent yet.');
    await page().close();
    await settles(stored, ['Quick', 'Slow']);
    await other.close();
  });
});

describe('A service that accepts and never answers', () => {
  const slow = 'The server takes too long to answer. What is shown may be out of date.';

  test.each([
    ['/', '1 open'],
    ['/todos', 'Buy milk'],
    ['/todos/1', 'Mark as done'],
    ['/todos/edit/1', 'Save'],
  ])('leaves what is kept in sight, and what it sends at last: %s', async (path, words) => {
    await open(path, 'Buy milk');
    await shows(page(), words);
    await page().goto('/todos');
    await settles(rows, ['Buy milk']);
    const release = proxy().hold('GET');
    await page().goto(path);
    await shows(page(), words);
    await hides(page(), 'Loading…');
    await shows(page(), slow);
    await store('Buy bread');
    release();
    await hides(page(), slow);
    if (path === '/todos') await settles(rows, ['Buy bread', 'Buy milk']);
  });

  test.each([
    ['is silent', { before: forEver }],
    ['is 502', { answer: { status: 502, body: 'Bad gateway' } }],
  ])('or of which the page %s does not take the place of a page that is kept', async (_name, fault) => {
    await open('/todos', 'Buy milk');
    proxy().pageFault = fault;
    await page().reload();
    await settles(rows, ['Buy milk']);
    await link('Details: Buy milk').click();
    await page().reload();
    await heading('Buy milk').waitFor();
  });
});
