import { createHash } from 'node:crypto';

/** What differs between one request and the next: a number from a range, or one of some texts. */
type Draw = { from: number; to: number } | { oneOf: string[] };

/** String with placeholders that each request fills with new values. */
export type Template = (string | Draw)[];

export interface RequestKind {
  method: 'GET' | 'POST' | 'PUT';
  path: Template;
  body?: Template;
  /** The header Idempotency-Key. */
  key?: Template;
  /** Out of a hundred requests of the scenario. */
  share: number;
}

export interface Scenario {
  name: string;
  /** As the tables name it. */
  title: string;
  service: 'items' | 'tutorials';
  requests: RequestKind[];
}

const ITEMS_PER_PAGE = 10;

/** Before the mark of 80 % of the table; each is asked for as often as the others, so that few can be shared. */
const DEEP_PAGES = 1_000;

const SEARCH_TEXTS = 1_000;

/** Rows that the tables hold when the benchmark begins. */
export interface Rows {
  items: number;
  tutorials: number;
}

/** Scenarios to measure, reads first, because writes make tables larger and leave dead rows in them. */
export function scenariosFor(rows: Rows): Scenario[] {
  const id: Draw = { from: 1, to: rows.items };
  const deepest = Math.floor((rows.items * 0.8) / ITEMS_PER_PAGE);

  const readOne: RequestKind = { method: 'GET', path: ['/v1/items/', id], share: 100 };
  const firstPage: RequestKind = { method: 'GET', path: ['/v1/items?page=1&limit=', `${ITEMS_PER_PAGE}`], share: 100 };
  const deepPage: RequestKind = {
    method: 'GET',
    path: ['/v1/items?page=', { from: deepest - DEEP_PAGES + 1, to: deepest }, `&limit=${ITEMS_PER_PAGE}`],
    share: 100,
  };
  const create: RequestKind = {
    method: 'POST',
    path: ['/v1/items'],
    body: ['{"title":"Buy milk, bottle ', id, '"}'],
    share: 100,
  };
  // Two of the same are as rare as a lost request.
  const createOnce: RequestKind = {
    ...create,
    key: ['key-', { from: 1, to: 2 ** 31 - 1 }, '-', { from: 1, to: 2 ** 31 - 1 }],
  };
  const update: RequestKind = {
    method: 'PUT',
    path: ['/v1/items/', id],
    body: ['{"title":"Buy bread, loaf ', id, '","status":"', { oneOf: ['Doing', 'Finished'] }, '"}'],
    share: 100,
  };
  const search: RequestKind = {
    method: 'GET',
    path: ['/api/tutorials?title=', { oneOf: searchTexts(rows.tutorials) }],
    share: 100,
  };

  return [
    { name: 'read', title: 'GET one', service: 'items', requests: [readOne] },
    { name: 'first-page', title: 'GET first page', service: 'items', requests: [firstPage] },
    { name: 'deep-page', title: 'GET deep page', service: 'items', requests: [deepPage] },
    { name: 'search', title: 'Title search', service: 'tutorials', requests: [search] },
    { name: 'create', title: 'POST', service: 'items', requests: [create] },
    { name: 'create-once', title: 'POST with Idempotency-Key', service: 'items', requests: [createOnce] },
    { name: 'update', title: 'PUT', service: 'items', requests: [update] },
    {
      name: 'mixed',
      title: 'Mixed: 70 % GET one, 20 % first page, 5 % POST, 5 % PUT',
      service: 'items',
      requests: [
        { ...readOne, share: 70 },
        { ...firstPage, share: 20 },
        { ...create, share: 5 },
        { ...update, share: 5 },
      ],
    },
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

/** The text with something drawn for each of its places. @param random from 0 to below 1, as `Math.random` */
export function fill(template: Template, random: () => number): string {
  const below = (count: number) => Math.floor(random() * count);
  return template
    .map((part) => {
      if (typeof part === 'string') return part;
      return 'oneOf' in part ? part.oneOf[below(part.oneOf.length)]! : part.from + below(part.to - part.from + 1);
    })
    .join('');
}
