// A browser that is told to store nothing throws at every use of the storage; pages work without it.

type Kind = 'sessionStorage' | 'localStorage';

/** @returns what this tab has kept through reloads, or all tabs of this browser */
export function read<Value>(key: string, kind: Kind = 'sessionStorage') {
  try {
    return (JSON.parse(globalThis[kind].getItem(key) ?? 'null') as Value | null) ?? undefined;
  } catch {
    return undefined;
  }
}

/** Keeps a value, or forgets it where there is none. */
export function write(key: string, value: unknown, kind: Kind = 'sessionStorage') {
  try {
    if (value) globalThis[kind].setItem(key, JSON.stringify(value));
    else globalThis[kind].removeItem(key);
  } catch {
    return;
  }
}
