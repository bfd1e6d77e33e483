import { useRef, useState } from 'preact/hooks';
import { remainingOf, TOO_LONG } from '../data/description.ts';
import { outbox } from '../data/outbox.ts';
import { read, write } from '../data/storage.ts';
import { Dialog } from './dialog.tsx';
import { useAnnouncement } from './notices.tsx';

/** Characters that are left when the field begins to count them. */
const FEW = 55;

/** Under which this tab keeps what is typed. */
const DRAFT = 'add';

const fits = (line: string) => remainingOf(line) >= 0;

/** A field that adds a todo at Enter and stays ready for the next. Several lines that are pasted may become several todos. */
export function AddField({ onAdd }: { onAdd: (descriptions: string[]) => Promise<unknown> }) {
  const field = useRef<HTMLInputElement>(null);
  const [text, setText] = useState(() => read<string>(DRAFT) ?? '');
  const [saving, setSaving] = useState(0);
  const { trouble } = outbox.use();
  const isSaving = saving > 0 && !trouble;
  const [pasted, setPasted] = useState<{ lines: string[]; from: number; to: number }>();
  const remaining = remainingOf(text.trim());
  const isTooLong = remaining < 0;

  useAnnouncement(isSaving ? 'Saving…' : undefined);

  function type(typed: string) {
    setText(typed);
    write(DRAFT, typed);
  }

  function add(descriptions: string[]) {
    setSaving((count) => count + 1);
    void onAdd(descriptions).then(() => setSaving((count) => count - 1));
  }

  function paste(event: ClipboardEvent) {
    const text = event.clipboardData?.getData('text') ?? '';
    const lines = text
      .split(/[\r\n\u2028\u2029]+/)
      .map((line) => line.trim())
      .filter(Boolean);
    if (lines.length < 2) return;
    event.preventDefault();
    // The field loses its selection to the question.
    const { selectionStart, selectionEnd } = field.current!;
    setPasted({ lines, from: selectionStart!, to: selectionEnd! });
  }

  function answer(way: string) {
    const { lines, from, to } = pasted!;
    setPasted(undefined);
    if (way === 'several') add(lines.filter(fits));
    const left = { one: lines, several: lines.filter((line) => !fits(line)) }[way] ?? [];
    const input = field.current!;
    input.focus();
    if (left.length === 0) return;
    input.setRangeText(left.join(' '), from, to, 'end');
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
        add([description]);
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
      {pasted && <Question lines={pasted.lines} onClose={answer} />}
    </form>
  );
}

function Question({ lines, onClose }: { lines: string[]; onClose: (answer: string) => void }) {
  const fitting = lines.filter(fits);
  const others = lines.length - fitting.length;
  return (
    <Dialog title={`Make ${fitting.length} todos of ${lines.length} lines?`} onClose={onClose}>
      {others > 0 && (
        <p>
          {others} of the lines {others === 1 ? 'is' : 'are'} too long for a todo, and will stay in the field.
        </p>
      )}
      <p class="line actions">
        <button class="button" value="several">
          Add {fitting.length} todos
        </button>
        <button class="button quiet" value="one">
          Paste as one line
        </button>
        <button class="button quiet" value="">
          Cancel
        </button>
      </p>
    </Dialog>
  );
}
