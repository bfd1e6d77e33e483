import type { Change } from './outbox.ts';
import { SLOW_MS, TooLate, within } from './within.ts';

let opening: Promise<IDBDatabase> | undefined;

/** Whether the storage did not answer in time. Until it does, nothing waits for it. */
let isSilent = false;

function open() {
  opening ??= new Promise<IDBDatabase>((resolve, reject) => {
    const request = indexedDB.open('todos');
    request.onupgradeneeded = () => request.result.createObjectStore('outbox', { keyPath: 'key' });
    request.onsuccess = () => {
      // Safari closes it now and then.
      request.result.onclose = () => (opening = undefined);
      resolve(request.result);
    };
    request.onerror = () => reject(request.error!);
  });
  return opening;
}

async function transact<Result>(mode: IDBTransactionMode, act: (changes: IDBObjectStore) => Result) {
  const acted = open().then(
    (database) =>
      new Promise<Result>((resolve, reject) => {
        const transaction = database.transaction('outbox', mode);
        const result = act(transaction.objectStore('outbox'));
        // Otherwise it would be lost with a page that is closed in the same moment.
        transaction.commit();
        transaction.oncomplete = () => resolve(result);
        transaction.onabort = () => reject(transaction.error!);
      }),
  );
  acted.then(() => (isSilent = false)).catch(() => undefined);
  return within(isSilent ? 0 : SLOW_MS, acted).catch((reason: unknown) => {
    isSilent ||= reason instanceof TooLate;
    throw reason;
  });
}

// A browser that is told to store nothing has no storage, or throws, rejects or never answers.

/** Reads the changes that this browser keeps, in their order. */
export const readChanges = async () =>
  (await transact('readonly', (changes) => changes.getAll() as IDBRequest<Change[]>)).result;

/** Keeps changes, and forgets others, in one transaction. It ends when they survive a crash of the page. */
export const writeChanges = (kept: Change[], forgotten: string[]) =>
  transact('readwrite', (changes) => {
    kept.forEach((change) => changes.put(change));
    forgotten.forEach((key) => changes.delete(key));
  });
