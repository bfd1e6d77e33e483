/** A request whose parts are expressions of Lua, evaluated for each: `random(1, 9)` draws a number. */
export interface Request {
  method: 'GET' | 'POST' | 'PUT';
  path: string;
  body?: string;
  /** The header Idempotency-Key. */
  key?: string | undefined;
}

/** What is measured, as the tables name it. `POST` is this service without the key of the request. */
export type Contestant = 'This service' | 'Other checkout' | 'POST' | 'Express' | 'Fastify' | 'Constant';

export interface Scenario {
  title: string;
  service: 'items' | 'tutorials';
  request: Request;
  /** What is measured beside this service. */
  rivals: Contestant[];
}

/** Rows of the tables when the benchmark begins. */
export interface Rows {
  items: number;
  tutorials: number;
}

/** Number of pages before 80 % of the table that are requested, so that few requests can share one. */
const DEEP_PAGES = 1_000;

/** Scenarios to measure, reads first, because writes make tables larger and leave dead rows in them. */
export function scenariosFor(rows: Rows): Scenario[] {
  const id = `random(1, ${rows.items})`;
  const deepest = Math.floor((rows.items * 0.8) / 10);
  const deepPage = `"/v1/items?limit=10&page=" .. random(${deepest - DEEP_PAGES + 1}, ${deepest})`;
  const create: Request = {
    method: 'POST',
    path: '"/v1/items"',
    body: `'{"title":"Buy milk, bottle ' .. ${id} .. '"}'`,
  };
  // Two equal keys are as rare as a lost request.
  const half = `random(1, ${2 ** 31 - 1})`;
  const status = `(random(2) == 1 and "Doing" or "Finished")`;
  const update: Request = {
    method: 'PUT',
    path: `"/v1/items/" .. ${id}`,
    body: `'{"title":"Buy bread, loaf ' .. ${id} .. '","status":"' .. ${status} .. '"}'`,
  };
  const search = `"/api/tutorials?title=" .. string.format("%08X", random(1, ${rows.tutorials}) * ${SCATTER})`;
  const both: Contestant[] = ['Express', 'Fastify'];
  const items = (title: string, request: Request, rivals = both) =>
    ({ title, service: 'items', request, rivals }) as const;
  const get = (path: string): Request => ({ method: 'GET', path });
  return [
    items('GET one', get(`"/v1/items/" .. ${id}`), [...both, 'Constant']),
    items('GET first page', get('"/v1/items?page=1&limit=10"'), [...both, 'Constant']),
    items('GET deep page', get(deepPage)),
    { title: 'Title search', service: 'tutorials', request: get(search), rivals: ['Fastify'] },
    items('POST', create),
    items('POST with Idempotency-Key', { ...create, key: `${half} .. "-" .. ${half}` }, ['POST']),
    items('PUT', update),
  ];
}

/** Turns a number into eight hexadecimal digits that look drawn, in Lua and in SQL. */
const SCATTER = '2654435761 % 4294967296';

/** The SQL expression for the title of tutorial `n`; a search for the digits finds few of them. */
export const tutorialTitle = `'Learning ' || lpad(to_hex(n::bigint * ${SCATTER}), 8, '0') || ' with ' || right(md5(n::text), 6)`;
