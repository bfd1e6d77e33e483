/** Path of the bundle that `jest-setup.ts` has made of the notes service. */
export function notesMain() {
  const main = process.env.NOTES_MAIN;
  if (!main) throw new Error('jest.config.mjs lacks globalSetup: ./test/notes/jest-setup.ts');
  return main;
}
