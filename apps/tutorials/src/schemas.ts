import { absentIfBlank, emptyMessage, Id, IdempotencyHeaders, KeyReused, Message, RawId } from '@rest-services/service';
import { Type } from 'typebox';

const empty = emptyMessage('Content can not be empty!');
export const MAX_TITLE_LENGTH = 255;
const titleRules = {
  maxLength: MAX_TITLE_LENGTH,
  description: 'Not blank; at most 255 characters (Unicode code points).',
  examples: ['Fastify'],
};
const Description = Type.String({ examples: ['From the first route to production'] });
const Published = Type.Boolean();

export const Tutorial = Type.Object({
  id: Id,
  title: Type.String({ examples: ['Fastify'] }),
  description: Description,
  published: Published,
});
const Tutorials = Type.Array(Tutorial, { description: 'In the order of their ids.' });
const TutorialId = Type.Object({ id: RawId });
const tags = ['tutorials'];

export const listTutorials = {
  operationId: 'listTutorials',
  summary: 'All tutorials, or those whose title contains a text',
  tags,
  querystring: Type.Object({
    title: Type.Optional(Type.String({ description: 'Matched literally and in any case. An empty text matches all.' })),
  }),
  response: { 200: Tutorials, 400: Message },
};

export const listPublishedTutorials = {
  operationId: 'listPublishedTutorials',
  summary: 'The published tutorials',
  tags,
  response: { 200: Tutorials },
};

export const createTutorial = {
  operationId: 'createTutorial',
  summary: 'Create a tutorial',
  tags,
  headers: IdempotencyHeaders,
  body: Type.Object({
    title: Type.String({ ...titleRules, ...absentIfBlank, ...empty }),
    description: Type.Optional(Description),
    published: Type.Optional(Published),
  }),
  response: { 201: Tutorial, 422: KeyReused },
};

export const readTutorial = {
  operationId: 'readTutorial',
  summary: 'One tutorial',
  tags,
  params: TutorialId,
  response: { 200: Tutorial, 404: Message },
};

export const updateTutorial = {
  operationId: 'updateTutorial',
  summary: 'Change the fields that are sent',
  tags,
  params: TutorialId,
  body: Type.Partial(
    Type.Object({
      title: Type.String({ ...titleRules, pattern: String.raw`\S`, ...empty }),
      description: Description,
      published: Published,
    }),
  ),
  response: { 200: Message, 404: Message },
};

export const deleteTutorial = {
  operationId: 'deleteTutorial',
  summary: 'Remove a tutorial for good',
  tags,
  params: TutorialId,
  response: { 200: Message, 404: Message },
};

export const deleteAllTutorials = {
  operationId: 'deleteAllTutorials',
  summary: 'Remove all tutorials for good',
  tags,
  response: { 200: Message },
};
