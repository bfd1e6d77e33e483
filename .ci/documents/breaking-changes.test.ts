import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { describe, expect, test } from '@jest/globals';
import { services } from '@rest-services/workspace';
import { makeDocument, releasedDocument } from './documents.ts';

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

/** @returns a line for each change that may break a client, or a client that was generated */
const breakingChanges = (before: object, after: object) =>
  apiCompare(before, after)
    .diffs.filter(isBreaking)
    .map(({ action, path }) => `${action} ${path.join(' ')}`);

function isBreaking({ path, action, type }: Difference) {
  // A component matters where it is used, as a part of a request or of a response, but for its name.
  if (path[0] !== 'paths') return path[0] === 'components' && path.length === 3 && action === 'remove';
  return type === 'breaking' || (action !== 'add' && FIXED.includes(String(path.at(-1))));
}

interface Json {
  [name: string]: Json;
}
const readReleased = (name: string) => JSON.parse(readFileSync(releasedDocument(name), 'utf8')) as Json;

// A service gets its file with its first release.
const released = services().filter(({ name }) => existsSync(releasedDocument(name)));

test.each(released)('the document of $name breaks no client of the last release', async ({ name }) => {
  expect(breakingChanges(readReleased(name), await makeDocument(name))).toEqual([]);
});

const REMOVED = undefined;

/** Sets a part of the document of items, whose names are in `path`, or removes it. @returns the breaking changes */
function changesBy(path: string, value: unknown) {
  const [before, after] = [readReleased('items'), readReleased('items')];
  const names = path.split(' ');
  const last = names.pop()!;
  const parent = names.reduce((part, name) => part[name]!, after);
  if (value === REMOVED) Reflect.deleteProperty(parent, last);
  else parent[last] = value as Json;
  expect(after).not.toEqual(before);
  return breakingChanges(before, after);
}

const item = 'components schemas Item';
const create = 'components schemas CreateItem';
const update = 'components schemas UpdateItem';

describe('The comparison finds', () => {
  test.each([
    ['a removed path', 'paths /v1/items/summary', REMOVED],
    ['a removed status', 'paths /v1/items post responses 413', REMOVED],
    ['another name of an operation', 'paths /v1/items get operationId', 'allItems'],
    ['a property of a response that may be absent', `${item} required`, ['id']],
    ['another type of a property of a response', `${item} properties id type`, 'string'],
    ['another format of a property of a response', `${item} properties id format`, REMOVED],
    ['a new value in an enum of a response', `${item} properties status enum`, ['Doing', 'Finished', 'Late']],
    ['a new required property of a request', `${update} required`, ['title']],
    ['a narrower limit of a request', `${create} properties title maxLength`, 100],
  ])('%s', (_, path, value: unknown) => {
    expect(changesBy(path, value)).not.toEqual([]);
  });

  test('another name of a shape', () => {
    const renamed = readFileSync(releasedDocument('items'), 'utf8').replaceAll(/(?<=["/])CreateItem"/g, 'NewItem"');
    expect(breakingChanges(readReleased('items'), JSON.parse(renamed) as Json)).not.toEqual([]);
  });
});

describe('The comparison allows', () => {
  test.each([
    ['other words', 'paths /v1/items/summary get description', 'How many there are.'],
    ['a new path', 'paths /v1/items/last', { get: { operationId: 'last', responses: {} } }],
    ['a new property of a response', `${item} properties at`, { type: 'string' }],
    ['a wider limit of a request', `${create} properties title maxLength`, 200],
  ])('%s', (_, path, value) => {
    expect(changesBy(path, value)).toEqual([]);
  });
});
