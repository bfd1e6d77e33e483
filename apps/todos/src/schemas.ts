import { absentIfBlank, Id, IdempotencyHeaders, KeyReused, Message } from '@rest-services/service';
import { Type } from 'typebox';

const Description = Type.String({
  maxLength: 255,
  description: 'Not blank; at most 255 characters (Unicode code points).',
  examples: ['Buy milk'],
  ...absentIfBlank,
});
const Completed = Type.Enum([0, 1], { description: '0: not completed, 1: completed.' });

export const Todo = Type.Object({
  id: Id,
  description: Type.String({ examples: ['Buy milk'] }),
  isCompleted: Completed,
});
export const TodoChanges = Type.Object({ description: Description, isCompleted: Completed });
const Done = Type.Object({ message: Type.String(), id: Id });
const tags = ['todos'];

export const listTodos = {
  operationId: 'listTodos',
  summary: 'All todos in the order of their ids',
  tags,
  response: { 200: Type.Array(Todo) },
};

export const readTodo = {
  operationId: 'readTodo',
  summary: 'One todo',
  tags,
  params: Type.Object({
    id: Type.String({ description: 'Read as parseInt(id, 10) reads it: 12abc is 12.', examples: ['1'] }),
  }),
  response: { 200: Todo, 404: Message },
};

export const createTodo = {
  operationId: 'createTodo',
  summary: 'Create a todo that is not completed',
  tags,
  headers: IdempotencyHeaders,
  body: Type.Object({ description: Description }),
  response: { 200: Done, 422: KeyReused },
};

export const updateTodo = {
  operationId: 'updateTodo',
  summary: 'Replace description and completion of the todo whose id is in the body',
  tags,
  body: Type.Object({ id: Id, ...TodoChanges.properties }),
  response: { 200: Done, 404: Message },
};
