import { inChunks } from '@rest-services/database';
import { HttpError } from '@rest-services/errors';
import { rowsOf } from '@rest-services/pagination';
import { createService, sendRows, type Settings } from '@rest-services/service';
import { sql, type Kysely } from 'kysely';
import type { ItemsDatabase } from './database.ts';
import * as schemas from './schemas.ts';

/** The items service: every route of the contract, without the process around it. */
export async function buildApp(db: Kysely<ItemsDatabase>, settings: Settings) {
  const app = await createService({
    settings,
    title: 'Items',
    description: 'To-do items with a title and a status.',
    failure: 'Database error',
    withCode: true,
  });

  app.post('/v1/items', { schema: schemas.createItem }, async ({ body }, reply) => {
    const { id } = await db.insertInto('item').values({ title: body.title }).returning('id').executeTakeFirstOrThrow();
    return reply.code(201).send({ id });
  });

  app.get('/v1/items', { schema: schemas.listItems }, ({ query }, reply) =>
    sendRows(reply, inChunks(db.selectFrom('item').selectAll(), rowsOf(query))),
  );

  app.get('/v1/items/summary', { schema: schemas.summariseItems }, () =>
    db
      .selectFrom('item')
      .select(({ fn }) => [
        fn.countAll<number>().filterWhere('status', '=', 'Finished').as('finished'),
        fn.countAll<number>().as('total'),
      ])
      .executeTakeFirstOrThrow(),
  );

  app.get('/v1/items/:id', { schema: schemas.readItem }, async ({ params }) => {
    const item = await db.selectFrom('item').selectAll().where('id', '=', params.id).executeTakeFirst();
    return item ?? notFound();
  });

  app.put('/v1/items/:id', { schema: schemas.updateItem }, async ({ params, body }) => {
    if (Object.keys(body).length === 0) throw new HttpError(400, 'Nothing to update');
    const { numUpdatedRows } = await db
      .updateTable('item')
      .set({ ...body, updated_at: sql`now()` })
      .where('id', '=', params.id)
      .executeTakeFirst();
    return numUpdatedRows > 0n ? { message: 'Item updated successfully' } : notFound();
  });

  app.delete('/v1/items/:id', { schema: schemas.deleteItem }, async ({ params }) => {
    const { numDeletedRows } = await db.deleteFrom('item').where('id', '=', params.id).executeTakeFirst();
    return numDeletedRows > 0n ? { message: 'Item deleted successfully' } : notFound();
  });

  return app;
}

function notFound(): never {
  throw new HttpError(404, 'Item not found');
}
