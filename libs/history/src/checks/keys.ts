import { createdId, describe, isUnknown, statusOf, type Operation } from '../history.ts';
import { idsByTitle } from './items.ts';
import { isLinearizable, type Step } from './linearizable.ts';
import type { Violation } from './checks.ts';

const CHECK = 'a key makes one item';

/** What PostgreSQL keeps about a key. */
interface KeyState {
  title: string;
  id: number | undefined;
}

/** The requests with one key, in some order: the first one makes an item, the same request gets its id again, another one gets 422. */
export function findUnexplainedKeys(operations: readonly Operation[]): Violation[] {
  const ids = idsByTitle(operations);
  const keyed = operations.filter(({ idempotencyKey }) => idempotencyKey !== undefined);
  for (const [key, requests] of Map.groupBy(keyed, ({ idempotencyKey }) => idempotencyKey)) {
    const seen = (request: Operation) => ids.get(request.body!.title!) ?? [];
    const twice = requests.find((request) => seen(request).length > 1);
    const done = requests.filter((request) => statusOf(request) !== 503);
    if (!twice && isLinearizable(done.map((request) => keyStep(request, seen(request)[0])))) continue;
    const message = twice
      ? `Items ${seen(twice).join(' and ')} have the title of one request with key ${key}`
      : `No order of its requests explains key ${key}`;
    const shown = requests.toSorted((a, b) => a.startedAt - b.startedAt);
    return [{ check: CHECK, message, lines: shown.map((each) => describe(each)) }];
  }
  return [];
}

/** @param seenId of the item with the title of the request, which tells that a request of unknown outcome was done */
function keyStep(request: Operation, seenId: number | undefined): Step<KeyState> {
  const title = request.body!.title!;
  const id = createdId(request) ?? (isUnknown(request) ? seenId : undefined);
  const { startedAt, endedAt } = request;
  if (statusOf(request) === 422) {
    const apply = (state?: KeyState) => (state && state.title !== title ? state : false);
    return { startedAt, endedAt, isOptional: false, apply };
  }
  return {
    startedAt,
    endedAt: isUnknown(request) ? Number.MAX_VALUE : endedAt,
    isOptional: id === undefined,
    apply: (state) => (state ? state.title === title && state.id === id && state : { title, id }),
  };
}
