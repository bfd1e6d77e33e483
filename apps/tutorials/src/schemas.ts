import {
  absentIfBlank,
  emptyMessage,
  Id,
  IdempotencyHeaders,
  KeyReused,
  messageResponse,
  RawId,
} from '@rest-services/service';
import { Type } from 'typebox';

const empty = emptyMessage('Content can not be empty!');
const titleRules = {
  maxLength: 255,
  description: 'Not blank; at most 255 characters (Unicode code points).',
  examples: ['Fastify'],
};
const Description = Type.String({ examples: ['From the first route to production'] });
const Published = Type.Boolean();

const example = { title: 'Fastify', description: 'From the first route to production', published: false };

export const Tutorial = Type.Object(
  { id: Id, title: Type.String({ examples: ['Fastify'] }), description: Description, published: Published },
  { $id: 'Tutorial', examples: [{ id: 1, ...example }] },
);
const Tutorials = Type.Array(Tutorial, { description: 'The tutorials in the order of their ids.' });
const TutorialId = Type.Object({ id: RawId });
const invalidId = messageResponse('Invalid id');

export const listTutorials = {
  operationId: 'listTutorials',
  summary: 'All tutorials, or those whose title contains a text',
  description: 'In the order of their ids, without pages.',
  querystring: Type.Object({
    title: Type.Optional(Type.String({ description: 'Matched literally and in any case. An empty text matches all.' })),
  }),
  response: { 200: Tutorials, 400: messageResponse('Title is not valid UTF-8') },
};

export const listPublishedTutorials = {
  operationId: 'listPublishedTutorials',
  summary: 'The published tutorials',
  description: 'In the order of their ids, without pages.',
  response: { 200: Tutorials },
};

export const createTutorial = {
  operationId: 'createTutorial',
  summary: 'Create a tutorial',
  description: 'Without a description it is empty, and not published unless the body says so.',
  headers: IdempotencyHeaders,
  body: Type.Object(
    {
      title: Type.String({ ...titleRules, ...absentIfBlank, ...empty }),
      description: Type.Optional(Description),
      published: Type.Optional(Published),
    },
    { $id: 'CreateTutorial', examples: [example] },
  ),
  response: {
    201: { ...Tutorial, description: 'The tutorial has been created.' },
    400: messageResponse('Content can not be empty!'),
    422: KeyReused,
  },
};

export const readTutorial = {
  operationId: 'readTutorial',
  summary: 'One tutorial',
  description: 'A 404 means that there is no such tutorial, or not any more.',
  params: TutorialId,
  response: {
    200: { ...Tutorial, description: 'The tutorial.' },
    400: invalidId,
    404: messageResponse('Cannot find Tutorial with id=1.'),
  },
};

export const updateTutorial = {
  operationId: 'updateTutorial',
  summary: 'Change the fields that are sent',
  description: 'At least one of them must be sent.',
  params: TutorialId,
  body: Type.Partial(
    Type.Object({
      title: Type.String({ ...titleRules, pattern: String.raw`\S`, ...empty }),
      description: Description,
      published: Published,
    }),
    { $id: 'UpdateTutorial', examples: [{ published: true }] },
  ),
  response: {
    200: messageResponse('Tutorial was updated successfully.', 'The tutorial has been changed.'),
    400: messageResponse('Data to update can not be empty!'),
    404: messageResponse('Cannot update Tutorial with id=1. Maybe Tutorial was not found or req.body is empty!'),
  },
};

export const deleteTutorial = {
  operationId: 'deleteTutorial',
  summary: 'Remove a tutorial for good',
  description: 'No other tutorial gets its id.',
  params: TutorialId,
  response: {
    200: messageResponse('Tutorial was deleted successfully!', 'The tutorial has been removed.'),
    400: invalidId,
    404: messageResponse('Cannot delete Tutorial with id=1. Maybe Tutorial was not found!'),
  },
};

export const deleteAllTutorials = {
  operationId: 'deleteAllTutorials',
  summary: 'Remove all tutorials for good',
  description: 'Published or not.',
  response: {
    200: messageResponse(
      '42 Tutorials were deleted successfully!',
      'All tutorials have been removed. The message says how many.',
    ),
  },
};
