// Records that a user and another client have changed, each starting from the same `base`.

/** What both have changed; where both have changed the same, what the user has. */
export const merge = <Values extends object>(base: Values, mine: Values, theirs: Values): Values =>
  Object.fromEntries(
    Object.entries(mine).map(([name, value]) => [name, value === get(base, name) ? get(theirs, name) : value]),
  ) as Values;

/** Whether both have changed the same, and not into the same. */
export const isConflict = <Values extends object>(base: Values, mine: Values, theirs: Values) =>
  Object.entries(mine).some(
    ([name, value]) => ![get(base, name), get(theirs, name)].includes(value) && get(base, name) !== get(theirs, name),
  );

export const isSame = <Values extends object>(some: Values, others: Values) =>
  Object.entries(some).every(([name, value]) => value === get(others, name));

const get = (values: object, name: string): unknown => values[name as keyof typeof values];
