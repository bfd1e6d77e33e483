// A new todo has a negative id, by the key of its change, until the service has given it one.

const realIds = new Map<number, number>();
const firstIds = new Map<number, number>();

export const negativeId = (key: string) => -parseInt(key, 10);

export function learnId(first: number, id: number) {
  realIds.set(first, id);
  firstIds.set(id, first);
}

/** Present id of a todo that may have been shown before it had one. */
export const idOf = (id: number) => realIds.get(id) ?? id;

/** Id under which a todo was shown first, so that its row stays the same. */
export const firstIdOf = (id: number) => firstIds.get(id) ?? id;
