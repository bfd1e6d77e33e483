import { useEffect, useRef, useState } from 'preact/hooks';
import type { Todo } from '../data/api.ts';
import { remainingOf, TOO_LONG } from '../data/description.ts';
import { outbox } from '../data/outbox.ts';
import { read, write } from '../data/storage.ts';
import { Dialog } from './dialog.tsx';
import { useAnnouncement } from './notices.tsx';

/** Characters that are left when the field begins to count them. */
const FEW = 55;

const fits = ({ description }: Entry) => remainingOf(description) >= 0;

/** What stands before an entry of a pasted list, and whether that is done. */
const MARK = /^\s*(?:(?:[-*+•–]|\d+[.)])(?:\s+|$))?(?:\[[ xX]?\](?:\s+|$)|[☐☑]\s*)?/u;

/** Texts of pasted lines, without marks, and whether they are done. */
const entriesOf = (pasted: string): Entry[] =>
  pasted
    .split(/[\r\n\u2028\u2029]+/)
    .map((line): Entry => {
      const [mark] = MARK.exec(line)!;
      return { description: line.slice(mark.length).trim(), isCompleted: /[x☑]/i.test(mark) ? 1 : 0 };
    })
    .filter(({ description }) => description);

type Entry = Omit<Todo, 'id'>;

interface AddFieldProps {
  /** Whether the list is empty: the field waits for the first todo. */
  isFirst: boolean;
  onAdd: (todos: Entry[]) => void;
}

/** A field that adds a todo at Enter and stays ready for the next. Several lines that are pasted may become several todos. */
export function AddField({ isFirst, onAdd }: AddFieldProps) {
  const field = useRef<HTMLInputElement>(null);
  const [text, setText] = useState(() => read<string>('add') ?? '');
  const [pasted, setPasted] = useState<{ entries: Entry[]; from: number; to: number }>();
  const { trouble, waiting } = outbox.use();
  const isSaving = !trouble && waiting.some(({ base }) => !base);
  const remaining = remainingOf(text.trim());
  const isTooLong = remaining < 0;
  const fitting = pasted?.entries.filter(fits).length ?? 0;
  const others = (pasted?.entries.length ?? 0) - fitting;
  const todos = fitting === 1 ? '1 todo' : `${fitting} todos`;

  useAnnouncement(isSaving ? 'Saving…' : undefined);

  function type(typed: string) {
    setText(typed);
    write('add', typed);
  }

  useEffect(() => {
    if (isFirst && document.activeElement!.matches('body, h1')) field.current!.focus();
  }, [isFirst]);

  function paste(event: ClipboardEvent) {
    const entries = entriesOf(event.clipboardData?.getData('text') ?? '');
    if (entries.length < 2 || !entries.some(fits)) return;
    event.preventDefault();
    // The field loses its selection to the question.
    const { selectionStart, selectionEnd } = field.current!;
    setPasted({ entries, from: selectionStart!, to: selectionEnd! });
  }

  function answer(way: string) {
    const { entries, from, to } = pasted!;
    setPasted(undefined);
    if (way === 'several') onAdd(entries.filter(fits));
    const left = { one: entries, several: entries.filter((entry) => !fits(entry)) }[way] ?? [];
    const input = field.current!;
    input.focus();
    if (left.length === 0) return;
    input.setRangeText(left.map(({ description }) => description).join(' '), from, to, 'end');
    type(input.value);
  }

  return (
    <form
      class="line add"
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        field.current!.focus();
        const description = text.trim();
        if (!description || isTooLong) return;
        type('');
        onAdd([{ description, isCompleted: 0 }]);
      }}
    >
      <input
        id="add"
        ref={field}
        aria-label="New todo"
        placeholder="What is to be done?"
        autocomplete="off"
        enterkeyhint="done"
        dir="auto"
        aria-invalid={isTooLong}
        aria-describedby="add-error add-count"
        value={text}
        onInput={({ currentTarget }) => type(currentTarget.value)}
        onPaste={paste}
      />
      <button class="button">{isSaving ? 'Saving…' : 'Add'}</button>
      <p class="error" id="add-error" role="alert">
        {isTooLong && TOO_LONG}
      </p>
      <p class="small count" id="add-count">
        {remaining <= FEW && remaining >= 0 && `${remaining} characters left`}
      </p>
      {pasted && (
        <Dialog title={`Make ${todos} of ${pasted.entries.length} lines?`} onClose={answer}>
          {others > 0 && (
            <p>
              {others} of the lines {others === 1 ? 'is' : 'are'} too long for a todo, and will stay in the field.
            </p>
          )}
          <p class="line actions">
            <button class="button" value="several">
              Add {todos}
            </button>
            <button class="button quiet" value="one">
              Paste as one line
            </button>
            <button class="button quiet" value="">
              Cancel
            </button>
          </p>
        </Dialog>
      )}
    </form>
  );
}
