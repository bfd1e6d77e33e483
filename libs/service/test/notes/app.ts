import { Repository, type Database } from '@rest-services/database';
import { NotFoundError } from '@rest-services/errors';
import { Type } from 'typebox';
import {
  createPreconditions,
  createService,
  Id,
  idempotencyKeyOf,
  locationOf,
  messageResponse,
  sendList,
  type Settings,
} from '../../src/index.ts';
import type { NotesDatabase } from './database.ts';

const Note = Type.Object({ id: Id, title: Type.String() });
const NoteId = Type.Object({ id: Type.Integer() });
const PageQuery = Type.Object({
  page: Type.Optional(Type.Integer({ minimum: 1 })),
  limit: Type.Optional(Type.Integer({ minimum: 1 })),
});
const [changed, missing] = [messageResponse('Note updated'), messageResponse('Note not found')];
const body = Type.Object({ title: Type.String({ maxLength: 150 }) });

/** The smallest service with all that libs/service offers: the tests of this lib run on it. */
export async function buildApp(db: Database<NotesDatabase>, settings: Settings) {
  const app = await createService({
    settings,
    title: 'Notes',
    description: 'Notes with a title.',
    failure: 'Database error',
    includeCode: true,
  });

  const notes = new Repository(db, 'note', { row: Note, insert: body, update: body, absent: 'kept' });
  const versionFor = createPreconditions(Note, notes);

  app.post('/notes', { schema: { body, response: { 201: Type.Object({ id: Id }) } } }, async (request, reply) => {
    const id = await notes.insert(request.body, idempotencyKeyOf(request));
    return reply.code(201).header('location', locationOf(request.url, id)).send({ id });
  });

  app.get(
    '/notes',
    { schema: { querystring: PageQuery, response: { 200: Type.Array(Note) } } },
    async ({ query: { page = 1, limit = 10 } }, reply) =>
      sendList(reply, await notes.page({ offset: (page - 1) * limit, limit })),
  );

  app.get('/notes/all', { schema: { response: { 200: Type.Array(Note) } } }, async (_request, reply) =>
    sendList(reply, await notes.list()),
  );

  app.get('/notes/summary', { schema: { response: { 200: Type.Object({ total: Type.Integer() }) } } }, () =>
    notes.count(),
  );

  app.get(
    '/notes/:id',
    { schema: { params: NoteId, response: { 200: Note, 404: missing } } },
    async ({ params }) => (await notes.findById(params.id)) ?? notFound(),
  );

  app.put(
    '/notes/:id',
    { schema: { params: NoteId, body, response: { 200: changed, 404: missing } } },
    async (request) => {
      const { params, body } = request;
      const version = await versionFor(request, params.id);
      return (await notes.update(params.id, body, version)) ? { message: 'Note updated' } : notFound();
    },
  );

  app.delete(
    '/notes/:id',
    { schema: { params: NoteId, response: { 200: changed, 404: missing } } },
    async (request) => {
      const { id } = request.params;
      return (await notes.delete(id, await versionFor(request, id))) ? { message: 'Note deleted' } : notFound();
    },
  );

  return app;
}

function notFound(): never {
  throw new NotFoundError('Note not found');
}
