import {
  absentIfBlank,
  documentedAs,
  Id,
  IdempotencyHeaders,
  KeyReused,
  Message,
  messageResponse,
  PathId,
} from '@rest-services/service';
import { Type } from 'typebox';

const Description = Type.String({
  maxLength: 255,
  description: 'Not blank; at most 255 characters (Unicode code points).',
  examples: ['Buy milk'],
  ...absentIfBlank,
});
const Completed = Type.Enum([0, 1], { type: 'integer', description: '0: not completed, 1: completed.' });

const example = { id: 1, description: 'Buy milk', isCompleted: 0 };

export const Todo = Type.Object(
  { id: Id, description: Type.String({ examples: ['Buy milk'] }), isCompleted: Completed },
  { $id: 'Todo', examples: [example] },
);
export const TodoChanges = Type.Object({ description: Description, isCompleted: Completed });
const notFound = messageResponse('Todo not found');
const SavedTodo = Type.Object({ ...Message.properties, id: Id }, { $id: 'SavedTodo' });

export const listTodos = {
  operationId: 'listTodos',
  summary: 'All todos in the order of their ids',
  description: 'Open todos and completed ones, without pages.',
  response: { 200: Type.Array(Todo, { description: 'All todos.' }) },
};

export const readTodo = {
  operationId: 'readTodo',
  summary: 'One todo',
  description: 'A 404 means that there is no such todo.',
  params: Type.Object({
    id: Type.String(documentedAs({ ...PathId, description: 'Read as parseInt(id, 10) reads it: 12abc is 12.' })),
  }),
  response: { 200: { ...Todo, description: 'The todo.' }, 400: messageResponse('Invalid id'), 404: notFound },
};

export const createTodo = {
  operationId: 'createTodo',
  summary: 'Create a todo that is not completed',
  description: 'The response has the id of the todo.',
  headers: IdempotencyHeaders,
  body: Type.Object({ description: Description }, { $id: 'CreateTodo', examples: [{ description: 'Buy milk' }] }),
  response: {
    200: { ...SavedTodo, description: 'The todo has been created.', example: { message: 'Todo created', id: 1 } },
    400: messageResponse('Description cannot be empty'),
    422: KeyReused,
  },
};

export const updateTodo = {
  operationId: 'updateTodo',
  summary: 'Replace description and completion of the todo whose id is in the body',
  description: 'All three fields must be sent.',
  body: Type.Object(
    { id: Id, ...TodoChanges.properties },
    { $id: 'UpdateTodo', examples: [{ ...example, isCompleted: 1 }] },
  ),
  response: {
    200: { ...SavedTodo, description: 'The todo has been changed.', example: { message: 'Update created', id: 1 } },
    400: messageResponse('Id cannot be empty'),
    404: notFound,
  },
};
