import { Repository, type Database } from '@rest-services/database';
import { InvalidInputError, NotFoundError } from '@rest-services/errors';
import {
  createPreconditions,
  createService,
  idempotencyKeyOf,
  locationOf,
  parseId,
  refuseTags,
  sendList,
  type Settings,
} from '@rest-services/service';
import type { TutorialsDatabase } from './database.ts';
import * as schemas from './schemas.ts';

/** The tutorials service: every route of the contract, without the process around it. */
export async function buildApp(db: Database<TutorialsDatabase>, settings: Settings) {
  const app = await createService({
    settings,
    title: 'Tutorials',
    description: 'Tutorials with a title, a description and a published flag.',
    failure: 'Internal Server Error',
    includeCode: false,
    constraints: {},
  });
  const tutorials = new Repository(db, 'tutorial', {
    row: schemas.Tutorial,
    longText: 'description',
    insert: schemas.createTutorial.body,
    update: schemas.updateTutorial.body,
    absent: 'kept',
  });
  const versionFor = createPreconditions(schemas.Tutorial, tutorials);

  app.get('/api/tutorials', { schema: schemas.listTutorials }, async ({ query: { title } }, reply) =>
    sendList(reply, await (title ? tutorials.search(title) : tutorials.list())),
  );

  app.get('/api/tutorials/published', { schema: schemas.listPublishedTutorials }, async (_request, reply) =>
    sendList(reply, await tutorials.list({ published: true })),
  );

  app.post('/api/tutorials', { schema: schemas.createTutorial }, async (request, reply) => {
    const tutorial = { description: '', published: false, ...request.body };
    const id = await tutorials.insert(tutorial, idempotencyKeyOf(request));
    return reply
      .code(201)
      .header('location', locationOf(request.url, id))
      .send({ id, ...tutorial });
  });

  app.get('/api/tutorials/:id', { schema: schemas.readTutorial }, async ({ params: { id } }) => {
    return (await tutorials.findById(parseId(id))) ?? missing(`Cannot find Tutorial with id=${id}.`);
  });

  app.put('/api/tutorials/:id', { schema: schemas.updateTutorial }, async (request) => {
    const { body, params } = request;
    const id = parseId(params.id);
    if (Object.keys(body).length === 0) throw new InvalidInputError('Data to update can not be empty!');
    if (await tutorials.update(id, body, await versionFor(request, id)))
      return { message: 'Tutorial was updated successfully.' };
    return missing(`Cannot update Tutorial with id=${params.id}. Maybe Tutorial was not found or req.body is empty!`);
  });

  app.delete('/api/tutorials/:id', { schema: schemas.deleteTutorial }, async (request) => {
    const { params } = request;
    const id = parseId(params.id);
    if (await tutorials.delete(id, await versionFor(request, id)))
      return { message: 'Tutorial was deleted successfully!' };
    return missing(`Cannot delete Tutorial with id=${params.id}. Maybe Tutorial was not found!`);
  });

  app.delete('/api/tutorials', { schema: schemas.deleteAllTutorials }, async (request) => {
    refuseTags(request);
    return { message: `${await tutorials.deleteAll()} Tutorials were deleted successfully!` };
  });

  return app;
}

function missing(message: string): never {
  throw new NotFoundError(message);
}
