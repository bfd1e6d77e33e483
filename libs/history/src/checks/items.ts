import { createdId, isDone, isUnknown, rowsOf, statusOf, type Operation, type Row } from '../history.ts';
import type { Step } from './linearizable.ts';

/** State of an item that exists. */
interface Item {
  title: string;
  status: string;
  /** The tag of this version, as soon as a response has shown it. */
  tag?: string | undefined;
  /** Tags of earlier versions, none of which comes back. */
  outdated: readonly string[];
}

/** A step of one item's history, with the operation that it was. */
export interface ItemStep extends Step<Item> {
  operation: Operation;
}

/** The steps of each item, by its id: its writes and reads, and one read for each list that shows it or shows that it is absent. */
export function stepsByItem(operations: readonly Operation[]): Map<number, ItemStep[]> {
  const steps = new Map<number, ItemStep[]>();
  const add = (id: number, step: ItemStep) => {
    if (!steps.has(id)) steps.set(id, []);
    steps.get(id)!.push(step);
  };
  const ids = idsByTitle(operations);
  const creates = operations.filter((operation) => operation.kind === 'create' && mayBeDone(operation));
  for (const [title, attempts] of Map.groupBy(creates, ({ body }) => body!.title!)) {
    // With one key, whichever attempt made it: none before the first one began, and none after one has been acknowledged.
    const attempt = attempts.find(isDone) ?? attempts[0]!;
    const id = createdId(attempt) ?? ids.get(title)?.[0];
    const startedAt = Math.min(...attempts.map((each) => each.startedAt));
    if (id !== undefined) add(id, { ...creation(attempt), startedAt });
  }
  for (const operation of operations) {
    const { key, kind } = operation;
    if (kind === 'list' && isDone(operation)) addList(operation);
    if (key === undefined) continue;
    if (statusOf(operation) === 404) add(key, read(operation, undefined));
    else if (statusOf(operation) === 412) add(key, refusal(operation));
    else if (kind === 'read' && isDone(operation)) add(key, read(operation, rowsOf(operation)[0]));
    else if ((kind === 'update' || kind === 'delete') && mayBeDone(operation)) add(key, write(operation));
  }

  function addList(operation: Operation) {
    const rows = new Map(rowsOf(operation).map((row) => [row.id, row]));
    const range = idRange(operation);
    for (const id of new Set([...steps.keys(), ...rows.keys()])) {
      const row = rows.get(id);
      if (row || (range && id > range.low && id < range.high)) add(id, read(operation, row));
    }
  }
  return steps;
}

/** Ids that a list says all about: an item in this range that it lacks does not exist. `undefined` for a page past the end. */
function idRange(operation: Operation): { low: number; high: number } | undefined {
  const rows = rowsOf(operation);
  const { offset, limit } = operation.position!;
  if (rows.length === 0 && offset > 0) return undefined;
  return { low: offset === 0 ? 0 : rows[0]!.id, high: rows.length < limit ? Infinity : rows.at(-1)!.id };
}

/** Ids of the items that were seen with a title, the first of which tells what a create without response has created. */
export function idsByTitle(operations: readonly Operation[]): Map<string, number[]> {
  const rows = Map.groupBy(operations.flatMap(rowsOf), ({ title }) => title);
  return new Map([...rows].map(([title, each]) => [title, [...new Set(each.map(({ id }) => id))]]));
}

const mayBeDone = (operation: Operation) => isDone(operation) || isUnknown(operation);

/** A change makes a new version, whose tag is another one. */
const changed = ({ tag, outdated, ...item }: Item, body: NonNullable<Operation['body']>): Item => ({
  ...{ ...item, ...body },
  outdated: tag === undefined ? outdated : [...outdated, tag],
});

/** The item with the tag of its version, or `false` when its version has another one. */
function withTag(item: Item, tag: string | undefined): Item | false {
  if (tag === undefined || item.tag === tag) return item;
  return item.tag === undefined && !item.outdated.includes(tag) && { ...item, tag };
}

const step = (operation: Operation, apply: ItemStep['apply']): ItemStep => {
  const { startedAt, endedAt } = operation;
  return { operation, startedAt, endedAt, isOptional: isUnknown(operation), apply };
};

function creation(operation: Operation) {
  const item = { title: '', status: 'Doing', ...operation.body, outdated: [] };
  return step(operation, (state) => (state ? false : item));
}

/** An update or a delete, which takes effect on the version of its `If-Match` alone, however late it is. */
function write(operation: Operation) {
  return step(operation, (state) => {
    const item = state && withTag(state, operation.ifMatch);
    if (!item) return false;
    return operation.kind === 'delete' ? undefined : changed(item, operation.body!);
  });
}

function read(operation: Operation, row: Row | undefined) {
  const tag = operation.kind === 'read' ? operation.response!.tag : undefined;
  return step(operation, (state) => {
    if (!row || !state) return row || state ? false : undefined;
    return state.title === row.title && state.status === row.status && withTag(state, tag);
  });
}

/** A 412: at some moment, the item had another version than that of `If-Match`, or did not exist. */
const refusal = (operation: Operation) =>
  step(operation, (state) => (state?.tag === operation.ifMatch ? false : state));
