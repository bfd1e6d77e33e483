import { describe, type Operation } from '../history.ts';

/** What a history must not show. */
export interface Violation {
  /** The sentence that does not hold. */
  check: string;
  message: string;
  /** The shortest part of the history that shows it, a line for each operation. */
  lines: string[];
}

/** The violation of the first operation for which `find` returns a message. */
export function first(
  operations: readonly Operation[],
  check: string,
  find: (operation: Operation) => string | undefined,
): Violation[] {
  for (const operation of operations) {
    const message = find(operation);
    if (message) return [{ check, message, lines: [describe(operation)] }];
  }
  return [];
}

/** The violation as it is printed. */
export const linesOf = ({ check, message, lines }: Violation) =>
  `not "${check}": ${message}\n${lines.map((line) => `  ${line}\n`).join('')}`;
