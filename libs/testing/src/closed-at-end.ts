const open = new Set<() => unknown>();

/**
 * Closes at the end of the file what its tests have opened, also where they fail: Jest would wait for it for ever.
 * @returns a function that closes it once, now or then
 */
export function closedAtEnd<Result>(close: () => Result): () => Result {
  let closing: { result: Result } | undefined;
  const closeOnce = () => (closing ??= { result: close() }).result;
  open.add(closeOnce);
  return closeOnce;
}

// For jest-environment.mjs.
Object.assign(globalThis, { closeOpen: () => Promise.allSettled(Array.from(open, (close) => close())) });
