/** Where the service refuses a description, in Unicode code points. */
export const DESCRIPTION_LIMIT = 255;

export const TOO_LONG = `This is too long: ${DESCRIPTION_LIMIT} characters fit.`;

/** How many characters fit in, after those of a description. */
export const remainingOf = (description: string) => DESCRIPTION_LIMIT - Array.from(description).length;
