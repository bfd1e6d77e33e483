import { createdId, idRange, isDone, isUnknown, rowsOf, statusOf, type Operation, type Row } from '../history.ts';
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
  /** Whether it changes the item. */
  isWrite: boolean;
  /** Whether the item existed at the end of a write or at the moment of a read; `undefined` when that is unknown. */
  exists: boolean | undefined;
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
    const id = createdId(attempt) ?? ids.get(title);
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

/** Id of the item that was first seen with a title, which tells what a create without response has created. */
export function idsByTitle(operations: readonly Operation[]): Map<string, number> {
  const ids = new Map<string, number>();
  for (const { id, title } of operations.flatMap(rowsOf)) if (!ids.has(title)) ids.set(title, id);
  return ids;
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

const timesOf = ({ startedAt, endedAt }: Operation) => ({ startedAt, endedAt });

/** Common part of the steps that change an item. */
const change = (operation: Operation) => ({
  ...{ operation, ...timesOf(operation), isWrite: true, isOptional: isUnknown(operation) },
  exists: isUnknown(operation) ? undefined : operation.kind !== 'delete',
});

function creation(operation: Operation): ItemStep {
  const item = { title: '', status: 'Doing', ...operation.body, outdated: [] };
  return { ...change(operation), apply: (state) => (state ? false : item) };
}

/** An update or a delete, which takes effect on the version of its `If-Match` alone, however late it is. */
function write(operation: Operation): ItemStep {
  return {
    ...change(operation),
    apply(state) {
      const item = state && withTag(state, operation.ifMatch);
      if (!item) return false;
      return operation.kind === 'delete' ? undefined : changed(item, operation.body!);
    },
  };
}

function read(operation: Operation, row: Row | undefined): ItemStep {
  const tag = operation.kind === 'read' ? operation.response!.tag : undefined;
  return {
    ...{ operation, ...timesOf(operation), isWrite: false, isOptional: false, exists: row !== undefined },
    apply(state) {
      if (!row || !state) return row || state ? false : undefined;
      return state.title === row.title && state.status === row.status && withTag(state, tag);
    },
  };
}

/** A 412: at some moment, the item had another version than that of `If-Match`, or did not exist. */
function refusal(operation: Operation): ItemStep {
  return {
    ...{ operation, ...timesOf(operation), isWrite: false, isOptional: false, exists: undefined },
    apply: (state) => (state?.tag === operation.ifMatch ? false : state),
  };
}
