import { PageHeaders, PageQuery } from '@rest-services/pagination';
import {
  absentIfBlank,
  absentIfEmpty,
  Id,
  IdempotencyHeaders,
  KeyReused,
  Message,
  Timestamp,
} from '@rest-services/service';
import { Type } from 'typebox';

const Title = Type.String({
  maxLength: 150,
  description: 'Not blank; at most 150 characters (Unicode code points).',
  examples: ['Buy milk'],
  ...absentIfBlank,
});

export const Item = Type.Object({
  id: Id,
  title: Type.String({ examples: ['Buy milk'] }),
  status: Type.Enum(['Doing', 'Finished'], { type: 'string' }),
  created_at: Timestamp,
  updated_at: Timestamp,
});
const ItemId = Type.Object({ id: Type.Integer({ description: 'Decimal digits.', examples: [1] }) });
const tags = ['items'];

export const createItem = {
  operationId: 'createItem',
  summary: 'Create an item in status Doing',
  tags,
  headers: IdempotencyHeaders,
  body: Type.Object({ title: Title }),
  response: { 201: Type.Object({ id: Id }), 422: KeyReused },
};

export const listItems = {
  operationId: 'listItems',
  summary: 'A page of items in the order of their ids',
  tags,
  querystring: PageQuery,
  response: { 200: Type.Array(Item, { headers: PageHeaders }) },
};

export const summariseItems = {
  operationId: 'summariseItems',
  summary: 'How many items there are and how many of them are finished',
  tags,
  response: { 200: Type.Object({ finished: Type.Integer(), total: Type.Integer() }) },
};

export const readItem = {
  operationId: 'readItem',
  summary: 'One item',
  tags,
  params: ItemId,
  response: { 200: Item, 404: Message },
};

export const updateItem = {
  operationId: 'updateItem',
  summary: 'Change the title, the status or both',
  description: 'What is null, empty or, for the title, blank counts as not sent.',
  tags,
  params: ItemId,
  body: Type.Partial(
    Type.Object({
      title: Title,
      status: Type.Enum(['Doing', 'Finished'], { type: 'string', ...absentIfEmpty }),
    }),
  ),
  response: { 200: Message, 404: Message },
};

export const deleteItem = {
  operationId: 'deleteItem',
  summary: 'Remove an item for good',
  tags,
  params: ItemId,
  response: { 200: Message, 404: Message },
};
