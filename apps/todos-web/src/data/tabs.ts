import { createRequestKey } from './api.ts';
import type { Change } from './outbox.ts';
import { SLOW_MS, within } from './within.ts';

// The tabs of this browser have the same changes. Each sends its own, and those of tabs that are gone.

/** Name of this tab, in the keys of its changes. */
export const tab = createRequestKey();

/** Tabs that have a lock here: this one, and those of which it is awaited. */
const asked = new Set([tab]);
const sentHere = new Set([tab]);

const tabOf = ({ key }: Change) => key.slice(key.indexOf('-') + 1);

/** Settles when this tab has the lock that another one has for as long as it lives. It is never given up. */
const lock = (name: string) =>
  new Promise<void>((resolve, reject) => {
    const take = () => {
      resolve();
      return new Promise(() => undefined);
    };
    navigator.locks.request(`tab ${name}`, take).catch(reject);
  });

/** Whether the browser has locks. Without them, several tabs may send one change: keys and tags make that the same. */
let hasLocks = true;
const own = within(SLOW_MS, lock(tab)).catch(() => (hasLocks = false));

/** Whether this tab sends a change. */
export const isSentHere = (change: Change) => !hasLocks || sentHere.has(tabOf(change));

/** Takes over the changes of tabs that are gone, when they go. */
export function adopt(changes: Change[], adopted: () => void) {
  for (const name of new Set(changes.map(tabOf))) {
    if (asked.has(name)) continue;
    asked.add(name);
    void own
      .then(() => (hasLocks ? lock(name) : undefined))
      .then(() => sentHere.add(name))
      .then(adopted);
  }
}

/** What a tab tells the others. */
interface Told {
  put: Change[];
  removed: string[];
}

let channel: BroadcastChannel | undefined;

function withChannel(act: (opened: BroadcastChannel) => void) {
  try {
    act((channel ??= new BroadcastChannel('outbox')));
  } catch {
    // Where a browser has or lets none, the tabs learn from each other at the next look into the storage.
  }
}

export const tell = (told: Told) => withChannel((opened) => opened.postMessage(told));

export const listen = (hear: (told: Told) => void) =>
  withChannel((opened) => (opened.onmessage = ({ data }: MessageEvent<Told>) => hear(data)));
