import { withDeadline, type Semaphore } from '@rest-services/concurrency';
import { OverloadedError } from '@rest-services/errors';

/**
 * Runs a read when its turn has come.
 * @param deadline a time of `performance.now()`
 * @throws OverloadedError when it has not begun, or not ended, at the deadline
 */
export function readInTurn<Result>(turns: Semaphore, read: () => Promise<Result>, deadline: number) {
  return withDeadline(
    deadline,
    turns.run(read, { deadline, onLate: () => new OverloadedError('turn') }),
    () => new OverloadedError('statement'),
  );
}
