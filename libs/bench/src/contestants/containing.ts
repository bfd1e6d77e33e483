/** A pattern for texts that contain this one, in which `%`, `_` and `\` are ordinary characters. */
export const containing = (text: string) => `%${text.replaceAll(/[\\%_]/g, String.raw`\$&`)}%`;
