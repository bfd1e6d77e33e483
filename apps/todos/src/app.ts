import { Repository, type Database } from '@rest-services/database';
import { InvalidInputError, NotFoundError } from '@rest-services/errors';
import { createPreconditions, createService, idempotencyKeyOf, sendList, type Settings } from '@rest-services/service';
import type { TodosDatabase } from './database.ts';
import * as schemas from './schemas.ts';
import { serveClient } from './spa.ts';

/** The todos service: every route of the contract, without the process around it. */
export async function buildApp(db: Database<TodosDatabase>, settings: Settings) {
  const app = await createService({
    settings,
    title: 'Todos',
    description: 'Todos with a description and a completed flag.',
    failure: 'Internal Server Error',
    includeCode: true,
  });
  const todos = new Repository(db, 'todo', {
    row: schemas.Todo,
    insert: schemas.createTodo.body,
    update: schemas.TodoChanges,
    absent: 'kept',
  });
  const versionFor = createPreconditions(schemas.Todo, todos);

  app.get('/api/todos', { schema: schemas.listTodos }, async (_request, reply) => sendList(reply, await todos.list()));

  app.get('/api/todos/:id', { schema: schemas.readTodo }, async ({ params }) => {
    const id = parseInt(params.id, 10);
    if (Number.isNaN(id)) throw new InvalidInputError('Invalid id');
    return (await todos.findById(id)) ?? notFound();
  });

  app.post('/api/todos', { schema: schemas.createTodo }, async (request) => ({
    message: 'Todo created',
    id: await todos.insert(request.body, idempotencyKeyOf(request)),
  }));

  app.put('/api/todos', { schema: schemas.updateTodo }, async (request) => {
    const { id, ...changes } = request.body;
    const version = await versionFor(request, id);
    return (await todos.update(id, changes, version)) ? { message: 'Update created', id } : notFound();
  });

  if (settings.NODE_ENV === 'production') await serveClient(app);
  return app;
}

function notFound(): never {
  throw new NotFoundError('Todo not found');
}
