import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';

interface DialogProps {
  title: string;
  /** Called with the value of the button that closed it; with an empty string for the Escape key. */
  onClose: (answer: string) => void;
  children: ComponentChildren;
}

/** A question or an explanation over the page. The browser keeps the focus in it, and gives it back. */
export function Dialog({ title, onClose, children }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  useLayoutEffect(() => dialog.current!.showModal(), []);
  return (
    <dialog
      class="card"
      ref={dialog}
      aria-label={title}
      onClose={({ currentTarget }) => onClose(currentTarget.returnValue)}
    >
      <form method="dialog">
        <h2>{title}</h2>
        {children}
      </form>
    </dialog>
  );
}
