import { Repository, type Database } from '@rest-services/database';
import { InvalidInputError, NotFoundError } from '@rest-services/errors';
import { offsetAndLimit, pageHeaders } from '@rest-services/pagination';
import {
  createPreconditions,
  createService,
  idempotencyKeyOf,
  locationOf,
  sendList,
  type Settings,
} from '@rest-services/service';
import type { ItemsDatabase } from './database.ts';
import * as schemas from './schemas.ts';

/** The items service: every route of the contract, without the process around it. */
export async function buildApp(db: Database<ItemsDatabase>, settings: Settings) {
  const app = await createService({
    settings,
    title: 'Items',
    description: 'To-do items with a title and a status.',
    failure: 'Database error',
    includeCode: true,
  });

  const items = new Repository(db, 'item', {
    row: schemas.Item,
    insert: schemas.createItem.body,
    update: schemas.updateItem.body,
    absent: 'kept',
    touch: 'updated_at',
    counts: schemas.summariseItems.response[200],
  });
  const versionFor = createPreconditions(schemas.Item, items);

  app.post('/v1/items', { schema: schemas.createItem }, async (request, reply) => {
    const id = await items.insert(request.body, idempotencyKeyOf(request));
    return reply.code(201).header('location', locationOf(request.url, id)).send({ id });
  });

  app.get('/v1/items', { schema: schemas.listItems }, async ({ query }, reply) => {
    const page = await items.page(offsetAndLimit(query));
    void reply.headers(pageHeaders(query, page.total));
    return sendList(reply, page);
  });

  app.get('/v1/items/summary', { schema: schemas.summariseItems }, () => items.count());

  app.get(
    '/v1/items/:id',
    { schema: schemas.readItem },
    async ({ params }) => (await items.findById(params.id)) ?? notFound(),
  );

  app.put('/v1/items/:id', { schema: schemas.updateItem }, async (request) => {
    const { params, body } = request;
    if (Object.keys(body).length === 0) throw new InvalidInputError('Nothing to update');
    return (await items.update(params.id, body, await versionFor(request, params.id)))
      ? { message: 'Item updated successfully' }
      : notFound();
  });

  app.delete('/v1/items/:id', { schema: schemas.deleteItem }, async (request) => {
    const { id } = request.params;
    return (await items.delete(id, await versionFor(request, id)))
      ? { message: 'Item deleted successfully' }
      : notFound();
  });

  return app;
}

function notFound(): never {
  throw new NotFoundError('Item not found');
}
