import { inChunks, inserting, readingById, updatingById } from '@rest-services/database';
import { InvalidInputError, NotFoundError } from '@rest-services/errors';
import { createService, sendList, type Settings } from '@rest-services/service';
import type { Kysely } from 'kysely';
import type { TodosDatabase } from './database.ts';
import * as schemas from './schemas.ts';
import { serveClient } from './spa.ts';

/** The todos service: every route of the contract, without the process around it. */
export async function buildApp(db: Kysely<TodosDatabase>, settings: Settings) {
  const app = await createService({
    settings,
    title: 'Todos',
    description: 'Todos with a description and a completed flag.',
    failure: 'Internal Server Error',
    includeCode: true,
  });
  const columns = ['id', 'description', 'isCompleted'] as const;
  const readTodo = readingById(db, 'todo', columns);
  const listTodos = inChunks(db, db.selectFrom('todo').select(columns));
  const createTodo = inserting(db, 'todo', ['description']);
  const updateTodo = updatingById(db, 'todo', ['description', 'isCompleted'], { absent: 'kept' });

  app.get('/api/todos', { schema: schemas.listTodos }, async (_request, reply) => sendList(reply, await listTodos()));

  app.get('/api/todos/:id', { schema: schemas.readTodo }, async ({ params }) => {
    const id = parseInt(params.id, 10);
    if (Number.isNaN(id)) throw new InvalidInputError('Invalid id');
    return (Number.isSafeInteger(id) && (await readTodo(id))) || notFound();
  });

  app.post('/api/todos', { schema: schemas.createTodo }, async ({ body: { description } }) => ({
    message: 'Todo created',
    id: await createTodo({ description }),
  }));

  app.put('/api/todos', { schema: schemas.updateTodo }, async ({ body: { id, description, isCompleted } }) => {
    if (!Number.isSafeInteger(id)) notFound();
    return (await updateTodo(id, { description, isCompleted })) ? { message: 'Update created', id } : notFound();
  });

  if (settings.NODE_ENV === 'production') await serveClient(app);
  return app;
}

function notFound(): never {
  throw new NotFoundError('Todo not found');
}
