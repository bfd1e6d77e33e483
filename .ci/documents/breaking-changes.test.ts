import { existsSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { services } from '@rest-services/workspace';
import { breakingChanges } from './breaking-changes.ts';
import { makeDocument, readDocument, releasedDocument } from './documents.ts';

// A service gets its file with its first release.
const released = services().filter(({ name }) => existsSync(releasedDocument(name)));

test.each(released)('the document of $name breaks no client of the last release', async ({ name }) => {
  expect(breakingChanges(readDocument(releasedDocument(name)), await makeDocument(name))).toEqual([]);
});

const base = {
  openapi: '3.1.0',
  info: { title: 'Notes', version: '1.0.0' },
  paths: {
    '/notes': {
      post: {
        operationId: 'createNote',
        requestBody: {
          required: true,
          content: { 'application/json': { schema: { $ref: '#/components/schemas/Write' } } },
        },
        responses: { 201: { description: 'Created.' }, 400: { description: 'Refused.' } },
      },
      get: {
        operationId: 'listNotes',
        parameters: [{ name: 'limit', in: 'query', schema: { type: 'integer', minimum: 1 } }],
        responses: {
          200: {
            description: 'All notes.',
            headers: { link: { schema: { type: 'string' } } },
            content: {
              'application/json': { schema: { type: 'array', items: { $ref: '#/components/schemas/Note' } } },
            },
          },
        },
      },
    },
    '/notes/count': { get: { operationId: 'countNotes', responses: { 200: { description: 'The number of notes.' } } } },
  },
  components: {
    schemas: {
      Note: {
        type: 'object',
        required: ['id', 'title'],
        properties: {
          id: { type: 'integer', format: 'int64' },
          title: { type: 'string' },
          status: { type: 'string', enum: ['open', 'done'] },
        },
      },
      Write: {
        type: 'object',
        required: ['title'],
        properties: {
          title: { type: 'string', maxLength: 150 },
          status: { type: 'string', enum: ['open', 'done'] },
        },
      },
    },
  },
};

type Base = typeof base;

function changesOf(change: (document: Base) => unknown) {
  const changed = structuredClone(base);
  change(changed);
  return breakingChanges(base as never, changed as never);
}

/** Deletes as `delete` does, for properties that are not optional. */
const remove = (object: object, name: string) => Reflect.deleteProperty(object, name);

describe('The comparison finds', () => {
  test.each<[string, (document: Base) => unknown]>([
    ['a removed path', ({ paths }) => remove(paths, '/notes/count')],
    ['a removed method', ({ paths }) => remove(paths['/notes'], 'get')],
    ['a removed status', ({ paths }) => remove(paths['/notes'].post.responses, '400')],
    ['a removed header of a response', ({ paths }) => remove(paths['/notes'].get.responses[200].headers, 'link')],
    ['a removed property of a response', ({ components }) => remove(components.schemas.Note.properties, 'title')],
    ['a property of a response that may be absent', ({ components }) => components.schemas.Note.required.pop()],
    [
      'another type of a property of a response',
      ({ components }) => (components.schemas.Note.properties.id.type = 'string'),
    ],
    [
      'another format of a property of a response',
      ({ components }) => remove(components.schemas.Note.properties.id, 'format'),
    ],
    [
      'a new value in an enum of a response',
      ({ components }) => components.schemas.Note.properties.status.enum.push('late'),
    ],
    ['a new required property of a request', ({ components }) => components.schemas.Write.required.push('status')],
    [
      'another type of a property of a request',
      ({ components }) => (components.schemas.Write.properties.title.type = 'integer'),
    ],
    ['a narrower enum of a request', ({ components }) => components.schemas.Write.properties.status.enum.pop()],
    ['a narrower limit of a request', ({ components }) => (components.schemas.Write.properties.title.maxLength = 100)],
    ['a narrower limit of a parameter', ({ paths }) => (paths['/notes'].get.parameters[0]!.schema.minimum = 2)],
    ['a removed parameter', ({ paths }) => paths['/notes'].get.parameters.pop()],
    ['another name of an operation', ({ paths }) => (paths['/notes'].get.operationId = 'allNotes')],
    [
      'another name of a shape',
      (document) => {
        const text = JSON.stringify(document)
          .replaceAll('schemas/Write', 'schemas/Body')
          .replace('"Write":', '"Body":');
        Object.assign(document, JSON.parse(text));
      },
    ],
  ])('%s', (_, change) => {
    expect(changesOf(change)).not.toEqual([]);
  });
});

describe('The comparison allows', () => {
  test.each<[string, (document: Base) => unknown]>([
    ['nothing new', () => undefined],
    ['another version', ({ info }) => (info.version = '2.0.0')],
    ['a new path', ({ paths }) => Object.assign(paths, { '/notes/last': paths['/notes/count'] })],
    [
      'a new status',
      ({ paths }) => Object.assign(paths['/notes'].get.responses, { 304: { description: 'Not modified.' } }),
    ],
    [
      'a new header of a request that may be absent',
      ({ paths }) =>
        (paths['/notes'].get.parameters as object[]).push({ name: 'etag', in: 'header', schema: { type: 'string' } }),
    ],
    [
      'a new property of a response',
      ({ components }) => Object.assign(components.schemas.Note.properties, { at: { type: 'string' } }),
    ],
    [
      'a new property of a request',
      ({ components }) => Object.assign(components.schemas.Write.properties, { at: { type: 'string' } }),
    ],
    ['a wider enum of a request', ({ components }) => components.schemas.Write.properties.status.enum.push('late')],
    ['a wider limit of a request', ({ components }) => (components.schemas.Write.properties.title.maxLength = 200)],
    ['other words', ({ paths }) => (paths['/notes/count'].get.responses[200].description = 'How many there are.')],
  ])('%s', (_, change) => {
    expect(changesOf(change)).toEqual([]);
  });
});
