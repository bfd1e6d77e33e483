import { createdId, describe, isDone, isUnknown, statusOf, type Operation } from '../history.ts';
import { idsByTitle } from './items.ts';
import type { Violation } from './checks.ts';

const titleOf = ({ body }: Operation) => body!.title!;

/** The requests with one key make at most one item, whose id each gets that is done. One with another body gets 422, and is not done. */
export function findUnexplainedKeys(operations: readonly Operation[]): Violation[] {
  const seen = idsByTitle(operations);
  const idsOf = (request: Operation) => [createdId(request) ?? [], seen.get(titleOf(request)) ?? []].flat();
  const keyed = operations.filter(({ idempotencyKey }) => idempotencyKey !== undefined);
  for (const [key, requests] of Map.groupBy(keyed, ({ idempotencyKey }) => idempotencyKey)) {
    const made = requests.filter((request) => idsOf(request).length > 0);
    const isOne = new Set(made.map(titleOf)).size <= 1 && new Set(made.flatMap(idsOf)).size <= 1;
    const mayHaveMade = requests.filter((request) => isDone(request) || isUnknown(request));
    const isRefused = (request: Operation) =>
      !made.includes(request) &&
      mayHaveMade.some((other) => titleOf(other) !== titleOf(request) && other.startedAt < request.endedAt);
    if (isOne && requests.filter((request) => statusOf(request) === 422).every(isRefused)) continue;
    const lines = requests.toSorted((a, b) => a.startedAt - b.startedAt).map((each) => describe(each));
    return [{ check: 'a key makes one item', message: `No order of its requests explains key ${key}`, lines }];
  }
  return [];
}
