import { PageHeaders, PageQuery } from '@rest-services/pagination';
import {
  absentIfBlank,
  absentIfEmpty,
  Id,
  IdempotencyHeaders,
  KeyReused,
  messageResponse,
  PathId,
  Timestamp,
} from '@rest-services/service';
import { Type } from 'typebox';

const Title = Type.String({
  maxLength: 150,
  description: 'Not blank; at most 150 characters (Unicode code points).',
  examples: ['Buy milk'],
  ...absentIfBlank,
});

export const Item = Type.Object(
  {
    id: Id,
    title: Type.String({ examples: ['Buy milk'] }),
    status: Type.Enum(['Doing', 'Finished'], { type: 'string' }),
    created_at: Timestamp,
    updated_at: Timestamp,
  },
  {
    $id: 'Item',
    examples: [
      {
        id: 1,
        title: 'Buy milk',
        status: 'Doing',
        created_at: '2026-11-20T18:30:00.000Z',
        updated_at: '2026-11-20T18:30:00.000Z',
      },
    ],
  },
);
const ItemId = Type.Object({ id: PathId });
const invalidId = messageResponse('Invalid id');
const notFound = messageResponse('Item not found');

export const createItem = {
  operationId: 'createItem',
  summary: 'Create an item in status Doing',
  description: 'The response has the id of the item.',
  headers: IdempotencyHeaders,
  body: Type.Object({ title: Title }, { $id: 'CreateItem', examples: [{ title: 'Buy milk' }] }),
  response: {
    201: Type.Object(
      { id: Id },
      { $id: 'CreatedItem', description: 'The item has been created.', examples: [{ id: 1 }] },
    ),
    400: messageResponse('Title cannot be empty'),
    422: KeyReused,
  },
};

export const listItems = {
  operationId: 'listItems',
  summary: 'A page of items in the order of their ids',
  description: 'The Link header leads to the other pages. A page past the end is empty.',
  querystring: PageQuery,
  response: { 200: Type.Array(Item, { description: 'The items of the page.', headers: PageHeaders }) },
};

export const summariseItems = {
  operationId: 'summariseItems',
  summary: 'How many items there are and how many of them are finished',
  description: 'Both numbers are those of one moment.',
  response: {
    200: Type.Object(
      { finished: Type.Integer({ minimum: 0 }), total: Type.Integer({ minimum: 0 }) },
      { $id: 'ItemSummary', description: 'The numbers of items.', examples: [{ finished: 12, total: 42 }] },
    ),
  },
};

export const readItem = {
  operationId: 'readItem',
  summary: 'One item',
  description: 'A 404 means that there is no such item, or not any more.',
  params: ItemId,
  response: { 200: { ...Item, description: 'The item.' }, 400: invalidId, 404: notFound },
};

export const updateItem = {
  operationId: 'updateItem',
  summary: 'Change the title, the status or both',
  description: 'What is null, empty or, for the title, blank counts as not sent.',
  params: ItemId,
  body: Type.Partial(
    Type.Object({
      title: Title,
      status: Type.Enum(['Doing', 'Finished'], { type: 'string', ...absentIfEmpty }),
    }),
    { $id: 'UpdateItem', examples: [{ status: 'Finished' }] },
  ),
  response: {
    200: messageResponse('Item updated successfully', 'The item has been changed.'),
    400: messageResponse('Nothing to update'),
    404: notFound,
  },
};

export const deleteItem = {
  operationId: 'deleteItem',
  summary: 'Remove an item for good',
  description: 'No other item gets its id.',
  params: ItemId,
  response: {
    200: messageResponse('Item deleted successfully', 'The item has been removed.'),
    400: invalidId,
    404: notFound,
  },
};
