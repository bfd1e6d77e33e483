/** @returns a time limit of the product, and as much again for a machine that is busy with other tests */
export const withMargin = (ms: number) => 2 * ms;
