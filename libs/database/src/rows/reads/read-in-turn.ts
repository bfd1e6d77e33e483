import { withDeadline, type Semaphore } from '@rest-services/concurrency';
import { overloaded } from '@rest-services/errors';

/**
 * Runs a read when its turn has come.
 * @param deadline a time of `performance.now()`
 * @throws OverloadedError when it has not begun, or not ended, at the deadline
 */
export function readInTurn<Result>(turns: Semaphore, read: () => Promise<Result>, deadline: number) {
  return withDeadline(deadline, turns.run(read, { deadline, onLate: () => overloaded('turn') }), () =>
    overloaded('statement'),
  );
}
