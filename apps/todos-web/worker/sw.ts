const worker = self as unknown as ServiceWorkerGlobalScope;

/** The build replaces it. */
declare const BUILT_FILES: Record<string, string>;

/** Address and digest of the index page and of each file that it loads. */
const files = BUILT_FILES;

/** Name of the cache with the files of this build. */
const BUILD = `build ${Object.values(files).join(' ')}`;

/** Name of the cache with the latest todos that a page has shown. They outlive a build. */
const SHOWN = 'shown';

worker.addEventListener('install', (event) => event.waitUntil(install()));
worker.addEventListener('activate', (event) => event.waitUntil(activate()));
worker.addEventListener('fetch', (event) => {
  const { method, mode, url } = event.request;
  const { origin, pathname } = new URL(url);
  if (method !== 'GET' || origin !== worker.origin) return;
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
  for (const name of await caches.keys()) if (name !== BUILD && name !== SHOWN) await caches.delete(name);
  await worker.clients.claim();
  // The first page loaded its todos before this worker could keep them.
  const shown = await caches.open(SHOWN);
  for (const { url } of await worker.clients.matchAll()) {
    const [, id] = /^\/todos\/(?:edit\/)?(\d+)$/.exec(new URL(url).pathname) ?? [];
    const path = id ? `/api/todos/${id}` : '/api/todos';
    if (!(await shown.match(path))) await shown.add(new Request(path, { cache: 'force-cache' })).catch(() => undefined);
  }
}

/** Page of the network, else that of this build, whose scripts are in the same cache. */
const page = (request: Request) => fetch(request).catch(() => kept(BUILD, '/'));

/** Names of these files have a hash of their content, so that a page of another build never gets one of this. */
const builtFile = (request: Request) => kept(BUILD, request).catch(() => fetch(request));

async function todos(event: FetchEvent) {
  const { request } = event;
  const shown = await caches.open(SHOWN);
  try {
    const response = await fetch(request);
    if (response.status === 200) event.waitUntil(shown.put(request, response.clone()).catch(() => undefined));
    if (response.status === 404) event.waitUntil(shown.delete(request));
    return response;
  } catch {
    const { body, headers } = await kept(SHOWN, request);
    const marked = new Headers(headers);
    marked.set('x-kept', 'true');
    return new Response(body, { headers: marked });
  }
}

/** @throws TypeError when there is none: the page sees it as a network error */
async function kept(name: string, request: RequestInfo) {
  const cache = await caches.open(name);
  const response = await cache.match(request, { ignoreVary: true });
  if (!response) throw new TypeError('Not in the cache');
  return response;
}
