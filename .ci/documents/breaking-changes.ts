import { createRequire } from 'node:module';
import type { Document } from './documents.ts';

// Required, because the types of the workspace are checked without the packages of this folder.
const { apiCompare } = createRequire(import.meta.url)('api-smart-diff') as {
  apiCompare: (before: object, after: object) => { diffs: Difference[] };
};

interface Difference {
  path: (string | number)[];
  action: 'add' | 'remove' | 'replace' | 'rename';
  type: 'breaking' | 'non-breaking' | 'annotation' | 'unclassified';
}

/** Keywords that no change leaves compatible: the comparison takes a changed type of a response for a wider one. */
const FIXED = ['type', 'format', 'operationId'];

/** Compares two OpenAPI documents and returns a line for each change that may break a client, or a client that was generated. */
export function breakingChanges(before: Document, after: Document): string[] {
  return apiCompare(before, after)
    .diffs.filter(isBreaking)
    .map(({ action, path }) => `${action} ${path.join(' ')}`);
}

function isBreaking({ path, action, type }: Difference) {
  // A component matters where it is used, as a part of a request or of a response, but for its name.
  if (path[0] !== 'paths') return path[0] === 'components' && path.length === 3 && action === 'remove';
  return type === 'breaking' || (action !== 'add' && FIXED.includes(String(path.at(-1))));
}
