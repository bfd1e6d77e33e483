const worker = self as unknown as ServiceWorkerGlobalScope;

/** The build replaces it. */
declare const BUILT_FILES: Record<string, string>;

/** Address and digest of the index page and of each file that it loads. */
const files = BUILT_FILES;

/** Name of the cache with the files of this build. */
const BUILD = `build ${Object.values(files).join(' ')}`;

/** Maximum wait for the network or the storage, where there is another way. */
const SLOW_MS = 3_000;

/** Maximum wait for a response of the service: the page waits as long. */
const MAX_MS = 15_000;

/** Name of the cache with the latest todos that a page has shown. They outlive a build. */
const SHOWN = 'shown';

worker.addEventListener('install', (event) => event.waitUntil(install()));
worker.addEventListener('activate', (event) => event.waitUntil(activate()));
worker.addEventListener('fetch', (event) => {
  const { cache, method, mode, url } = event.request;
  const { origin, pathname } = new URL(url);
  // What a write is made from comes from the service.
  if (method !== 'GET' || origin !== worker.origin || cache === 'no-store') return;
  if (mode === 'navigate') {
    if (/^\/(todos(\/|$)|$)/.test(pathname)) event.respondWith(page(event.request));
  } else if (pathname in files) event.respondWith(builtFile(event.request));
  else if (/^\/api\/todos(\/|$)/.test(pathname)) event.respondWith(todos(event));
});

async function install() {
  const build = await caches.open(BUILD);
  // During a rolling update another release may respond. A digest that differs ends the installation; the browser retries later.
  await Promise.all(
    Object.entries(files).map(async ([path, integrity]) => build.put(path, await fetch(path, { integrity }))),
  );
  await worker.skipWaiting();
}

async function activate() {
  await worker.clients.claim();
  for (const name of await caches.keys()) if (name !== BUILD && name !== SHOWN) await caches.delete(name);
  // The first page loaded its todos before this worker could keep them.
  const cache = await caches.open(SHOWN);
  for (const { url } of await worker.clients.matchAll()) {
    const [, id] = /^\/todos\/(?:edit\/)?(\d+)$/.exec(new URL(url).pathname) ?? [];
    const path = id ? `/api/todos/${id}` : '/api/todos';
    const request = new Request(path, { cache: 'force-cache' });
    if (!(await cache.match(path)))
      await fetch(request).then(
        (response) => keep(request, response),
        () => undefined,
      );
  }
}

/** Page of the network, else that of this build, whose scripts are in the same cache. A proxy without a service counts as no network. */
async function page(request: Request) {
  const coming = fetch(request);
  const response = await within(SLOW_MS, coming).catch(() => undefined);
  if (response && response.status < 500) return response;
  return kept(BUILD, '/').catch(() => response ?? coming);
}

/** Names of these files have a hash of their content, so that a page of another build never gets one of this. */
const builtFile = (request: Request) => kept(BUILD, request).catch(() => fetch(request));

/** What the service sends, else what was shown last. */
async function todos(event: FetchEvent) {
  const { request } = event;
  if (request.cache === 'only-if-cached') return shown(request);
  const abort = new AbortController();
  try {
    const response = await within(MAX_MS, fetch(request, { signal: abort.signal }));
    // A cache that fails loses what was shown, and nothing else.
    event.waitUntil(keep(request, response.clone()).catch(() => undefined));
    const { status } = response;
    const isOfProxy = [502, 504].includes(status) || (status === 503 && !isJson(response));
    return isOfProxy ? await shown(request).catch(() => response) : response;
  } catch (error) {
    // The browser's cache holds later requests behind one that is never answered.
    abort.abort();
    return shown(request).catch(() => {
      throw error;
    });
  }
}

async function keep(request: Request, response: Response) {
  const cache = await caches.open(SHOWN);
  // A hotel's page to log in may have the same status.
  if (!isJson(response)) return;
  if (response.status === 200) await cache.put(request, response);
  if (response.status === 404) await cache.delete(request);
}

const isJson = ({ headers }: Response) => headers.get('content-type')?.startsWith('application/json');

/** What was shown last. A todo is also part of the list, which may be newer. */
async function shown(request: Request) {
  const [, id] = /\/(\d+)$/.exec(request.url) ?? [];
  const [own, list] = await Promise.all(
    [request, '/api/todos'].map((each) => kept(SHOWN, each).catch(() => undefined)),
  );
  const isListed = id && list && (!own || dateOf(list) > dateOf(own));
  const { body, headers } = isListed ? ofList(id, (await list.json()) as { id: number }[]) : (own ?? absent());
  const marked = new Headers(headers);
  marked.set('x-kept', 'true');
  return new Response(body, { headers: marked });
}

function ofList(id: string, list: { id: number }[]) {
  return Response.json(list.find((todo) => `${todo.id}` === id) ?? absent());
}

const dateOf = ({ headers }: Response) => Date.parse(headers.get('date') ?? '') || 0;

/** @throws TypeError when there is none: the page sees it as a network error */
async function kept(name: string, request: RequestInfo) {
  const found = caches.open(name).then((cache) => cache.match(request, { ignoreVary: true }));
  return (await within(SLOW_MS, found)) ?? absent();
}

/** @throws TypeError when it takes longer */
const within = <Value>(ms: number, promise: Promise<Value>) =>
  Promise.race([promise, new Promise<never>((_resolve, reject) => setTimeout(() => reject(new TypeError()), ms))]);

function absent(): never {
  throw new TypeError('Not kept');
}
