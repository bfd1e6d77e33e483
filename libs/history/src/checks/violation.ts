import type { Operation } from '../history.ts';
import { describe } from '../history.ts';

export type CheckName =
  | 'responses belong to their requests'
  | 'responses are of the contract'
  | 'a create makes one item'
  | 'a key makes one item'
  | 'ids increase'
  | 'totals equal rows'
  | 'pages are whole and in order'
  | 'walks neither skip nor repeat'
  | 'items are linearizable'
  | 'acknowledged writes stay'
  | 'requests end in time';

/** What a history must not show. */
export interface Violation {
  check: CheckName;
  message: string;
  /** The shortest part of the history that shows it, a line for each operation. */
  lines: string[];
}

/** The violation of the first operation for which `find` returns a message. */
export function first(
  operations: readonly Operation[],
  check: CheckName,
  find: (operation: Operation) => string | undefined,
): Violation[] {
  for (const operation of operations) {
    const message = find(operation);
    if (message) return [{ check, message, lines: [describe(operation)] }];
  }
  return [];
}
