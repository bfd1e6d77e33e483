import {
  createdId,
  idRange,
  isAbsent,
  isDone,
  isUnknown,
  rowsOf,
  type History,
  type Operation,
  type Row,
} from '../history.ts';
import type { State, Step } from '../checks/linearizable.ts';

/** A step of one item's history, with the operation that it was. */
export interface ItemStep extends Step {
  operation: Operation;
  /** Whether the item existed at the end of a write or at the moment of a read; `undefined` when the outcome is unknown. */
  exists: boolean | undefined;
}

/** The steps of each item, by its id: its writes and reads, and one read for each list that shows it or shows that it is absent. */
export function stepsByItem({ operations }: Pick<History, 'operations'>): Map<number, ItemStep[]> {
  const steps = new Map<number, ItemStep[]>();
  const add = (id: number, step: ItemStep) => {
    if (!steps.has(id)) steps.set(id, []);
    steps.get(id)!.push(step);
  };
  const ids = idsByTitle(operations);
  for (const operation of operations) {
    if (operation.kind !== 'create') continue;
    const id = createdId(operation) ?? (isUnknown(operation) ? ids.get(operation.body!.title!) : undefined);
    if (id !== undefined) add(id, write(operation, createItem(operation.body!.title!)));
  }
  for (const operation of operations) {
    const { key, kind } = operation;
    if (kind === 'list' && isDone(operation)) addList(operation);
    if (key === undefined) continue;
    if (isAbsent(operation)) add(key, read(operation, undefined));
    else if (kind === 'read' && isDone(operation)) add(key, read(operation, rowsOf(operation)[0]));
    else if (kind === 'update' && (isDone(operation) || isUnknown(operation))) {
      add(
        key,
        write(operation, (state) => state && { ...state, ...operation.body }),
      );
    } else if (kind === 'delete' && (isDone(operation) || isUnknown(operation))) {
      add(
        key,
        write(operation, (state) => state && 'deleted'),
      );
    }
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

const createItem = (title: string) => (state: State) => (state ? undefined : { title, status: 'Doing' });

/** @param change returns `undefined` where the item's state does not allow it */
function write(operation: Operation, change: (state: State) => State | 'deleted'): ItemStep {
  return {
    operation,
    startedAt: operation.startedAt,
    endedAt: operation.endedAt,
    isWrite: true,
    isOptional: isUnknown(operation),
    exists: isUnknown(operation) ? undefined : operation.kind !== 'delete',
    apply: (state) => {
      const after = change(state);
      return after === 'deleted' ? undefined : (after ?? false);
    },
  };
}

function read(operation: Operation, row: Row | undefined): ItemStep {
  return {
    operation,
    startedAt: operation.startedAt,
    endedAt: operation.endedAt,
    isWrite: false,
    isOptional: false,
    exists: row !== undefined,
    apply: (state) => (state?.title === row?.title && state?.status === row?.status ? state : false),
  };
}
