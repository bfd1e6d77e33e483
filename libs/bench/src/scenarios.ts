import { createHash } from 'node:crypto';

/** What differs between one request and the next: a number from a range, or one of some texts. */
type Draw = { from: number; to: number } | { oneOf: string[] };

/** String with placeholders that each request fills with new values. */
export type Template = (string | Draw)[];

export interface Request {
  method: 'GET' | 'POST' | 'PUT';
  path: Template;
  body?: Template;
  /** The header Idempotency-Key. */
  key?: Template;
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

const ITEMS_PER_PAGE = 10;

/** Number of pages before 80 % of the table that are requested, so that few requests can share one. */
const DEEP_PAGES = 1_000;

const SEARCH_TEXTS = 1_000;

/** Scenarios to measure, reads first, because writes make tables larger and leave dead rows in them. */
export function scenariosFor(rows: Rows): Scenario[] {
  const id: Draw = { from: 1, to: rows.items };
  const deepest = Math.floor((rows.items * 0.8) / ITEMS_PER_PAGE);
  const page: Draw = { from: deepest - DEEP_PAGES + 1, to: deepest };
  const create: Request = { method: 'POST', path: ['/v1/items'], body: ['{"title":"Buy milk, bottle ', id, '"}'] };
  // Two equal keys are as rare as a lost request.
  const half: Draw = { from: 1, to: 2 ** 31 - 1 };
  const update: Request = {
    method: 'PUT',
    path: ['/v1/items/', id],
    body: ['{"title":"Buy bread, loaf ', id, '","status":"', { oneOf: ['Doing', 'Finished'] }, '"}'],
  };
  const get = (...path: Template): Request => ({ method: 'GET', path });
  const search = get('/api/tutorials?title=', { oneOf: searchTexts(rows.tutorials) });

  return [
    { title: 'GET one', service: 'items', request: get('/v1/items/', id) },
    { title: 'GET first page', service: 'items', request: get(`/v1/items?page=1&limit=${ITEMS_PER_PAGE}`) },
    { title: 'GET deep page', service: 'items', request: get('/v1/items?page=', page, `&limit=${ITEMS_PER_PAGE}`) },
    { title: 'Title search', service: 'tutorials', request: search },
    { title: 'POST', service: 'items', request: create },
    { title: 'POST with Idempotency-Key', service: 'items', request: { ...create, key: ['key-', half, '-', half] } },
    { title: 'PUT', service: 'items', request: update },
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

/** The text with a random value for each placeholder. */
export function fill(template: Template): string {
  const below = (count: number) => Math.floor(Math.random() * count);
  return template
    .map((part) => {
      if (typeof part === 'string') return part;
      return 'oneOf' in part ? part.oneOf[below(part.oneOf.length)]! : part.from + below(part.to - part.from + 1);
    })
    .join('');
}
