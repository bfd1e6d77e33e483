import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { Todo } from '../data/api.ts';
import { discard, saveTyped } from '../data/changes.ts';
import type { Values } from '../data/description.ts';
import { changeOf, type Change } from '../data/outbox.ts';
import type { useDraft } from './use-draft.ts';

export interface SaveOptions {
  /** The todo to replace; without one, a save creates a new one. */
  id?: number;
  /** Whether that todo has been deleted. */
  isGone?: boolean;
  /** An earlier change that could not be saved. */
  stuck?: Change | undefined;
  /** @param isGone whether the todo has been deleted */
  onLeave: (isGone: boolean) => void;
}

/** Saves what was typed into a form by way of the outbox, and says what keeps it from being saved. */
export function useSave(draft: ReturnType<typeof useDraft<Values>>, options: SaveOptions) {
  const { id, stuck, onLeave } = options;
  const [isGone, setGone] = useState(options.isGone ?? false);
  const [isSaving, setSaving] = useState(false);
  const [problem, setProblem] = useState(stuck?.problem);
  /** Change that this form has made, or that it began with: the next one stands for it. */
  const made = useRef(stuck?.key);
  const isLeft = useRef(false);
  useLayoutEffect(() => () => void (isLeft.current = true), []);

  async function save() {
    setProblem(undefined);
    setSaving(true);
    const todo = (of: Values): Todo => ({ id: id ?? 0, isCompleted: 0, ...of });
    const isNew = id === undefined || isGone;
    const saving = saveTyped(isNew ? undefined : todo(draft.base), todo(draft.values), made.current);
    made.current = saving.key;
    await saving.kept;
    // From here on, the outbox has it.
    draft.forget();
    const outcome = await saving.ended;
    if (isLeft.current) return;
    if (outcome !== 'stuck') {
      onLeave(isGone);
      return;
    }
    const { problem: why, present } = changeOf(saving.key)!;
    setSaving(false);
    setProblem(why);
    if (why!.kind === 'missing') setGone(true);
    if (present) draft.conflictWith(valuesLike(draft.values, present));
  }

  /** Drops what was typed here, unless it may have arrived already. */
  function drop() {
    draft.forget();
    const dropped = made.current && changeOf(made.current);
    if (dropped) discard(dropped);
    made.current = undefined;
  }

  return { isGone, isSaving, problem, save, drop, clearProblem: () => setProblem(undefined) };
}

/** Of a todo, what a form of such values shows. */
export const valuesLike = (values: Values, { description, isCompleted }: Values): Values =>
  values.isCompleted === undefined ? { description } : { description, isCompleted: isCompleted! };
