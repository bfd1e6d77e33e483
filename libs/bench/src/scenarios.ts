import { createHash } from 'node:crypto';

/** A request whose parts are expressions of Lua, evaluated for each: `random(1, 9)` draws a number, `draw()` one of `texts`. */
export interface Request {
  method: 'GET' | 'POST' | 'PUT';
  path: string;
  body?: string;
  /** The header Idempotency-Key. */
  key?: string;
  texts?: string[];
}

export interface Scenario {
  title: string;
  service: 'items' | 'tutorials';
  request: Request;
}

/** Rows of the tables when the benchmark begins. */
export interface Rows {
  items: number;
  tutorials: number;
}

/** Number of pages before 80 % of the table that are requested, so that few requests can share one. */
const DEEP_PAGES = 1_000;
const SEARCH_TEXTS = 1_000;

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
  const update: Request = {
    method: 'PUT',
    path: `"/v1/items/" .. ${id}`,
    body: `'{"title":"Buy bread, loaf ' .. ${id} .. '","status":"' .. draw() .. '"}'`,
    texts: ['Doing', 'Finished'],
  };
  const search: Request = {
    method: 'GET',
    path: '"/api/tutorials?title=" .. draw()',
    texts: searchTexts(rows.tutorials),
  };
  const items = 'items' as const;
  return [
    { title: 'GET one', service: items, request: { method: 'GET', path: `"/v1/items/" .. ${id}` } },
    { title: 'GET first page', service: items, request: { method: 'GET', path: '"/v1/items?page=1&limit=10"' } },
    { title: 'GET deep page', service: items, request: { method: 'GET', path: deepPage } },
    { title: 'Title search', service: 'tutorials', request: search },
    { title: 'POST', service: items, request: create },
    { title: 'POST with Idempotency-Key', service: items, request: { ...create, key: `${half} .. "-" .. ${half}` } },
    { title: 'PUT', service: items, request: update },
  ];
}

/** The SQL expression for the title of tutorial `n`; a search for one of `searchTexts` finds few of them. */
export const tutorialTitle = `'Learning ' || left(md5(n::text), 8) || ' with ' || right(md5(n::text), 6)`;

function searchTexts(tutorials: number) {
  return Array.from({ length: SEARCH_TEXTS }, (_, index) => {
    const n = 1 + Math.floor((index * tutorials) / SEARCH_TEXTS);
    return createHash('md5').update(String(n)).digest('hex').slice(0, 8).toUpperCase();
  });
}
