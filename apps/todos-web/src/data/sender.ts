import * as api from './api.ts';
import { asProblem, Problem, type Todo } from './api.ts';
import { isConflict, isSame, merge } from './merge.ts';
import { changeOf, changesOf, outbox, reread, setTrouble, unkept, update, waiting, type Change } from './outbox.ts';

/** Requests that are on their way at once. Browsers have six connections, of which reading needs some. */
const WRITERS = 4;

/** Maximum number of times that a todo which others change is decided again, before a person is told. */
const MAX_DECISIONS = 5;

/** Time after its first request within which a new todo is sent again: the service keeps its key for 24 hours. */
const KEY_MS = 23 * 3_600_000;

const MAX_DELAY_MS = 60_000;

let running: Promise<void> | undefined;
let isAskedAgain = false;
let startWriters: (() => void) | undefined;
let failures = 0;
let timer: ReturnType<typeof setTimeout>;

/** Changes that are on their way, and those that have failed in this round. */
const onTheirWay = new Set<string>();
const failed = new Set<string>();

/** Sends the changes that wait. It ends when the others are in trouble. */
export function send(): Promise<void> {
  isAskedAgain = true;
  // What is new does not wait for a slow response.
  startWriters?.();
  running ??= exclusively(sendAll).finally(() => {
    running = undefined;
    if (isAskedAgain) void send();
  });
  return running;
}

/** Of several tabs one sends. Without locks, which need https, both may: keys and tags make that the same. */
const exclusively = async (run: () => Promise<void>) => {
  const locks = navigator.locks as LockManager | undefined;
  await (locks ? locks.request('outbox', run) : run());
};

async function sendAll() {
  while (isAskedAgain) {
    isAskedAgain = false;
    failed.clear();
    clearTimeout(timer);
    await reread();
    const problems: Problem[] = [];
    const writers = new Set<Promise<void>>();
    startWriters = () => {
      while (writers.size < WRITERS && next()) {
        const writer: Promise<void> = write(problems).finally(() => writers.delete(writer));
        writers.add(writer);
      }
    };
    startWriters();
    while (writers.size > 0) await Promise.race(writers);
    startWriters = undefined;
    setTrouble(problems[0]?.message);
    if (problems.length === 0) failures = 0;
    else {
      failures += 1;
      const delay = Math.min(MAX_DELAY_MS, 1_000 * 2 ** failures);
      timer = setTimeout(() => void send(), delay * (1 + Math.random() / 2));
    }
  }
}

/** Sends one change after the other. It ends with the first that can't be sent now, so that few are tried while nothing works. */
async function write(problems: Problem[]) {
  for (let change = next(); change; change = next()) {
    const { key } = change;
    onTheirWay.add(key);
    try {
      await (change.base ? saveChange(change) : createTodo(change));
      if (problems.length === 0 && outbox.get().trouble) setTrouble(undefined);
    } catch (reason) {
      failed.add(key);
      problems.push(asProblem(reason));
      return;
    } finally {
      onTheirWay.delete(key);
    }
  }
}

function next() {
  // New todos get their ids in the order in which they were written.
  let isAfterNew = false;
  for (const changes of [waiting.single, waiting.batch]) {
    for (const change of changes.values()) {
      const { key, base, mine } = change;
      if (!base && isAfterNew) continue;
      isAfterNew ||= !base;
      const first = changesOf(mine.id).find(({ state }) => state !== 'done');
      if (first === change && !onTheirWay.has(key) && !failed.has(key) && !unkept.has(key)) return change;
    }
  }
  return undefined;
}

export const isOnItsWay = (key: string) => onTheirWay.has(key);

async function createTodo(change: Change) {
  const { mine, requestKey, sentAt } = change;
  if (sentAt === undefined) {
    change = { ...change, sentAt: Date.now() };
    await update([change]);
  } else if (Date.now() - sentAt > KEY_MS) {
    await fail(change, new Problem('unsure', 'It was sent a day ago, without a response: it may be in the list.'));
    return;
  }
  try {
    const id = await api.createTodo(mine.description, requestKey!);
    // Changes made to it since belong to this one.
    const later = changesOf(mine.id).filter(({ key }) => key !== change.key);
    await update([
      done(change, { ...mine, id }),
      ...later.map((other) => ({ ...other, base: { ...other.base!, id }, mine: { ...other.mine, id } })),
    ]);
  } catch (problem) {
    await fail(change, problem);
  }
}

async function saveChange(change: Change) {
  try {
    // A crash before it is kept costs a request more, which finds what has arrived.
    void update([done(change, await decide(change as Change & { base: Todo }))]);
  } catch (problem) {
    await fail(change, problem);
  }
}

/** @throws what has to be tried again later */
async function fail(change: Change, reason: unknown) {
  const { kind, message, present } = asProblem(reason);
  if (kind === 'failed') throw reason;
  const isTyped = change.base?.description !== change.mine.description;
  // A todo that has gone needs no tick.
  if (kind === 'missing' && !isTyped) await update([], [change.key]);
  else if (changeOf(change.key)) {
    await update([{ ...change, state: 'stuck', problem: { kind, message }, ...(present && { present }) }]);
  }
}

const done = (change: Change, mine: Todo): Change => ({ ...change, state: 'done', mine, doneAt: Date.now() });

/**
 * Replaces the todo that a change was made from, and no other: where another client has changed it, what both have made of it.
 * @returns the todo as the service has it
 * @throws Problem
 */
async function decide({ base, mine }: { base: Todo; mine: Todo }): Promise<Todo> {
  let changed = mine;
  let tags = await tagOf(base);
  for (let decisions = 0; decisions < MAX_DECISIONS; decisions += 1) {
    if (tags) {
      try {
        await api.updateTodo(changed, tags);
        return changed;
      } catch (problem) {
        if (!(problem instanceof Problem && problem.kind === 'changed')) throw problem;
      }
    }
    const { todo: present, tag } = await api.readTodo(`${base.id}`, true);
    if (isConflict(base, mine, present)) throw new Problem('changed', 'It has been changed meanwhile.', present);
    changed = merge(base, mine, present);
    // Another client wants the same, or an earlier request has arrived and just its response been lost.
    if (isSame(changed, present)) return present;
    // What stands between may have changed the tag that it sent on.
    tags = [tag, await tagOf(present)].filter(Boolean).join(', ');
  }
  throw new Problem('failed', 'The server does not take it for the latest version, though it is.');
}

/**
 * Tag of a todo, made as the service makes it: the hash of its JSON. A list has none for each of its todos. A tag that is not the
 * service's costs a request more and overwrites nothing.
 * @returns undefined on a page without https, where browsers do not hash
 */
async function tagOf({ id, description, isCompleted }: Todo) {
  const { subtle } = crypto as { subtle?: SubtleCrypto };
  const json = new TextEncoder().encode(JSON.stringify({ id, description, isCompleted }));
  const digest = await subtle?.digest('SHA-1', json);
  if (!digest) return undefined;
  const base64 = btoa(String.fromCharCode(...new Uint8Array(digest)));
  return `"${base64.replaceAll('+', '-').replaceAll('/', '_').replace('=', '')}"`;
}
