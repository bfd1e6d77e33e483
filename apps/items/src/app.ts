import {
  CHUNK_ROWS,
  chunksAfter,
  coalesced,
  deletingById,
  inserting,
  pagesOf,
  readingById,
  updatingById,
} from '@rest-services/database';
import { InvalidInputError, NotFoundError } from '@rest-services/errors';
import { pageHeaders, rowsOf } from '@rest-services/pagination';
import { createService, sendList, type Settings } from '@rest-services/service';
import type { Kysely } from 'kysely';
import type { ItemsDatabase } from './database.ts';
import * as schemas from './schemas.ts';

/** The items service: every route of the contract, without the process around it. */
export async function buildApp(db: Kysely<ItemsDatabase>, settings: Settings) {
  const app = await createService({
    settings,
    title: 'Items',
    description: 'To-do items with a title and a status.',
    failure: 'Database error',
    includeCode: true,
  });

  const columns = ['id', 'title', 'status', 'created_at', 'updated_at'] as const;
  const readItem = readingById(db, 'item', columns);
  const readPage = pagesOf(db, 'item', columns);
  const listFrom = chunksAfter(db, db.selectFrom('item').select(columns));
  const createItem = inserting(db, 'item', ['title']);
  const updateItem = updatingById(db, 'item', ['title', 'status'], { absent: 'kept', touch: 'updated_at' });
  const deleteItem = deletingById(db, 'item');
  const summarise = coalesced(() =>
    db.selectFrom('item_count').select(['finished', 'total']).executeTakeFirstOrThrow(),
  );

  app.post('/v1/items', { schema: schemas.createItem }, async ({ body }, reply) =>
    reply.code(201).send({ id: await createItem(body) }),
  );

  app.get('/v1/items', { schema: schemas.listItems }, async ({ query }, reply) => {
    const { offset, limit } = rowsOf(query);
    const { total, rows } = await readPage({ offset, limit: Math.min(limit, CHUNK_ROWS) });
    void reply.headers(pageHeaders('/v1/items', query, total));
    return sendList(reply, listFrom(rows, limit));
  });

  app.get('/v1/items/summary', { schema: schemas.summariseItems }, () => summarise());

  app.get(
    '/v1/items/:id',
    { schema: schemas.readItem },
    async ({ params }) => (await readItem(params.id)) ?? notFound(),
  );

  app.put('/v1/items/:id', { schema: schemas.updateItem }, async ({ params, body }) => {
    if (Object.keys(body).length === 0) throw new InvalidInputError('Nothing to update');
    return (await updateItem(params.id, body)) ? { message: 'Item updated successfully' } : notFound();
  });

  app.delete('/v1/items/:id', { schema: schemas.deleteItem }, async ({ params }) => {
    return (await deleteItem(params.id)) ? { message: 'Item deleted successfully' } : notFound();
  });

  return app;
}

function notFound(): never {
  throw new NotFoundError('Item not found');
}
