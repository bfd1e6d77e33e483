import { fetchWithRetries, type todosClient } from '@rest-services/client';

interface Options {
  params?: { path: Record<string, string | number> };
  body?: object;
  headers?: Record<string, string>;
  signal?: AbortSignal;
}

const send = (method: string) => async (path: string, options: Options) => {
  const { params, body, headers, signal = null } = options;
  const address = path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(params!.path[name]!));
  // Without a network, each retry would be lost as well.
  const response = await (navigator.onLine ? fetchWithRetries : fetch)(address, {
    method,
    signal,
    headers: { ...headers, ...(body && { 'content-type': 'application/json' }) },
    body: body ? JSON.stringify(body) : null,
  });
  const text = await response.text();
  if (response.ok) return { response, data: (text ? JSON.parse(text) : undefined) as unknown };
  try {
    return { response, error: JSON.parse(text) as unknown };
  } catch {
    return { response, error: text };
  }
};

/** The methods of the client of the todos service that these pages need, in a tenth of its 2.6 kB: pages have 22 kB. */
export const client = { GET: send('GET'), POST: send('POST'), PUT: send('PUT') } as Pick<
  ReturnType<typeof todosClient>,
  'GET' | 'POST' | 'PUT'
>;
