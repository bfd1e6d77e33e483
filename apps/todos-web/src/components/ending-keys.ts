/** Handles the keys that end a text: Enter to save it, unless Shift begins a new line with it, and Escape to leave it. */
export const endingKeys = (end: (isToSave: boolean) => void) => (event: KeyboardEvent) => {
  const { key, shiftKey, target } = event;
  const isToSave = key === 'Enter' && !shiftKey && (target as Element).matches('textarea');
  // Safari ends the composition of a word first, and marks the key that did it in a way that no other browser needs any more.
  const isComposing = event.isComposing || Reflect.get(event, 'keyCode') === 229;
  if (isComposing || !(isToSave || key === 'Escape')) return;
  event.preventDefault();
  end(isToSave);
};
