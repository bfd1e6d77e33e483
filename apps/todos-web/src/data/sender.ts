import * as api from './api.ts';
import { asProblem, Problem, type Todo } from './api.ts';
import { isConflict, isSame, merge } from './merge.ts';
import { changeOf, changesOf, outbox, queued, reread, unkept, update, type Change } from './outbox.ts';
import { SLOW_MS, within } from './within.ts';
import { adopt, isSentHere } from './tabs.ts';

/** Requests that are on their way at once. Browsers have six connections, of which reading needs some. */
const WRITERS = 4;

/** Maximum number of times that a todo which others change is decided again, before a person is told. */
const MAX_DECISIONS = 5;

/** Time after its first request within which a new todo is sent again: the service keeps its key for 24 hours. */
const KEY_MS = 23 * 3_600_000;

/** What a clock goes back by itself: the service tells its seconds, and networks tell the time. */
const SET_MS = 60_000;

const MAX_DELAY_MS = 60_000;

let failures = 0;
let timer: ReturnType<typeof setTimeout>;

const writers = new Set<Promise<void>>();

/** Changes that are on their way, and those that have failed since sending was asked for last. */
const onTheirWay = new Set<string>();
const failed = new Set<string>();

/** Sends the changes of this tab that wait. It ends when they are sent, or the others are in trouble. */
export async function send() {
  clearTimeout(timer);
  failed.clear();
  // What is new does not wait for a slow response.
  if (writers.size === 0) await reread();
  adopt([...queued()], () => void send());
  while (writers.size < WRITERS && next()) {
    const writer: Promise<void> = write().finally(() => writers.delete(writer));
    writers.add(writer);
  }
  await Promise.all(writers);
  if (failed.size === 0) worked();
}

/** Sends one change after the other. It ends with the first that can't be sent now, so that few are tried while nothing works. */
async function write() {
  for (let change = next(); change; change = next()) {
    const { key } = change;
    onTheirWay.add(key);
    try {
      await (change.base ? saveChange(change) : createTodo(change)).catch((reason: unknown) => fail(key, reason));
      if (failed.size === 0) worked();
    } catch (reason) {
      if (failed.size === 0) {
        failures += 1;
        outbox.update({ trouble: asProblem(reason).message });
        const delay = Math.min(MAX_DELAY_MS, 1_000 * 2 ** failures);
        timer = setTimeout(() => void send(), delay * (1 + Math.random() / 2));
      }
      failed.add(key);
      return;
    } finally {
      onTheirWay.delete(key);
    }
  }
}

function worked() {
  failures = 0;
  if (outbox.get().trouble) outbox.update({ trouble: undefined });
}

function next() {
  // New todos get their ids in the order in which they were written.
  let isAfterNew = false;
  for (const change of queued()) {
    const { key, base, mine } = change;
    if (!isSentHere(change) || (!base && isAfterNew)) continue;
    isAfterNew ||= !base;
    const isFree = !onTheirWay.has(key) && !failed.has(key) && !unkept.has(key);
    if (isFree && changesOf(mine.id).find(isInFront) === change) return change;
  }
  return undefined;
}

/** Whether later changes of the same todo wait for it. They pass one that is stuck, but for a todo that there is not yet. */
const isInFront = ({ state, base }: Change) => state === 'waiting' || (state === 'stuck' && !base);

export const isOnItsWay = (key: string) => onTheirWay.has(key);

async function createTodo(change: Change) {
  const { mine, requestKey, sentAt = api.now() } = change;
  if (change.sentAt) await within(SLOW_MS, api.heard.promise).catch(() => undefined);
  else await update([{ ...change, sentAt }]);
  if (isOld(sentAt)) throw new Problem('unsure', 'It was sent earlier, without a response: it may be in the list.');
  const id = await api.createTodo(mine.description, requestKey!);
  // Changes made to it since belong to this one.
  const later = changesOf(mine.id).filter(({ key }) => key !== change.key);
  await update([
    done(change, { ...mine, id }),
    ...later.map((other) => ({ ...other, base: { ...other.base!, id }, mine: { ...other.mine, id } })),
  ]);
}

/** Whether a key may have been forgotten, by the clock of the browser or of the service. One of them may have been set. */
const isOld = (sentAt: api.Moment) =>
  api.now().some((time, clock) => time - sentAt[clock]! < -SET_MS || time - sentAt[clock]! > KEY_MS);

async function saveChange(change: Change) {
  // A crash before it is kept costs a request more, which finds what has arrived.
  void update([done(change, await decide(change as Change & { base: Todo }))]);
}

/** @throws what has to be tried again later */
async function fail(key: string, reason: unknown) {
  const { kind, message, present } = asProblem(reason);
  if (kind === 'failed') throw reason;
  const change = changeOf(key);
  if (!change) return undefined;
  const { base, mine } = change;
  // A todo that has gone needs no tick.
  if (kind === 'missing' && base?.description === mine.description) return update([], [key], 'gone');
  // Later texts become part of this one, since a person decides once. Ticks go on without it.
  const texts = changesOf(mine.id).filter((later) => later.key > key && later.state === 'waiting' && isText(later));
  const wanted = texts.reduce((all, text) => merge(text.base!, text.mine, all), mine);
  const over = texts.map((text) => text.key);
  if (base && isSame(base, wanted)) return update([], [key, ...over]);
  const stuck: Change = { ...change, state: 'stuck', mine: wanted, problem: { kind, message } };
  return update([present ? { ...stuck, present } : stuck], over);
}

const isText = ({ base, mine }: Change) => base !== undefined && base.description !== mine.description;

const done = (change: Change, mine: Todo): Change => ({ ...change, state: 'done', mine });

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
    const { todo: present, tag } = await api.readTodo(`${base.id}`, 'fresh');
    if (isConflict(base, mine, present)) throw new Problem('changed', 'Somebody else has changed the same.', present);
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
async function tagOf(todo: Todo) {
  const { subtle } = crypto as { subtle?: SubtleCrypto };
  const json = new TextEncoder().encode(JSON.stringify(todo, fields));
  const digest = await subtle?.digest('SHA-1', json).catch(() => undefined);
  if (!digest) return undefined;
  const base64 = btoa(String.fromCharCode(...new Uint8Array(digest)));
  return `"${base64.replaceAll('+', '-').replaceAll('/', '_').replace('=', '')}"`;
}

/** Fields of a todo in the order in which the service writes them. A column that is added there is missed here by the compiler. */
const fields = Object.keys({ id: 0, description: '', isCompleted: 0 } satisfies Required<Todo>);
