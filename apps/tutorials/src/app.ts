import { Batcher } from '@rest-services/concurrency';
import { errorCode, repository, RESPONSE_MS, SQLSTATE, type Database } from '@rest-services/database';
import { InvalidInputError, NotFoundError, overloaded } from '@rest-services/errors';
import {
  columnsOf,
  createIfMatch,
  createService,
  idempotencyKeyOf,
  locationOf,
  parseId,
  refuseTags,
  sendList,
  type Settings,
} from '@rest-services/service';
import { sql, type Kysely } from 'kysely';
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
  const tutorials = repository(db, 'tutorial', {
    columns: columnsOf(schemas.Tutorial),
    longText: 'description',
    insert: columnsOf(schemas.createTutorial.body),
    update: { columns: columnsOf(schemas.updateTutorial.body), absent: 'kept' },
    search: { column: 'title', maxLength: schemas.MAX_TITLE_LENGTH },
  });

  const ifMatch = createIfMatch(schemas.Tutorial);
  // Requests at once share a deletion. It takes part in the waits for locks: several would take the connections of all requests.
  const deletion = new Batcher<undefined, number>(async (requests) => {
    const count = await db.lockWaits.runInTurn((deadline) => deleteAll(db.kysely, deadline), 'tutorial');
    // Each tutorial is counted once.
    return requests.map((_, index) => (index === 0 ? count : 0));
  }, Infinity);

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
    const { body } = request;
    const { id } = request.params;
    if (Object.keys(body).length === 0) throw new InvalidInputError('Data to update can not be empty!');
    if (await tutorials.update(parseId(id), body, ifMatch(request)))
      return { message: 'Tutorial was updated successfully.' };
    return missing(`Cannot update Tutorial with id=${id}. Maybe Tutorial was not found or req.body is empty!`);
  });

  app.delete('/api/tutorials/:id', { schema: schemas.deleteTutorial }, async (request) => {
    const { id } = request.params;
    if (await tutorials.delete(parseId(id), ifMatch(request))) return { message: 'Tutorial was deleted successfully!' };
    return missing(`Cannot delete Tutorial with id=${id}. Maybe Tutorial was not found!`);
  });

  app.delete('/api/tutorials', { schema: schemas.deleteAllTutorials }, async (request) => {
    refuseTags(request);
    const count = await deletion.submit(undefined);
    return { message: `${count} Tutorials were deleted successfully!` };
  });

  return app;
}

/**
 * @param deadline a time of `performance.now()`
 * @returns the number of deleted rows
 * @throws OverloadedError when the table can't be truncated and too little time remains to delete the rows one by one
 */
async function deleteAll(db: Kysely<TutorialsDatabase>, deadline: number) {
  const refuseWithin = (ms: number) => {
    if (performance.now() > deadline - ms) throw overloaded('lock');
  };
  try {
    await db.transaction().execute(endAutovacuum);
    refuseWithin(TRUNCATE_MS);
    return await db.transaction().execute(truncate);
  } catch (error) {
    if (!NOT_TO_BE_TRUNCATED.has(errorCode(error))) throw error;
    refuseWithin(RESPONSE_MS);
    const { numDeletedRows } = await db.deleteFrom('tutorial').executeTakeFirst();
    return Number(numDeletedRows);
  }
}

/** Time that truncating needs, its wait for a lock included. */
const TRUNCATE_MS = 1_000;

/**
 * Ends autovacuum of the table, which takes long after a load of many rows: PostgreSQL cancels it for a session that has waited for a
 * second, on a busy machine a little later. A session that waits for this lock blocks neither readers nor writers.
 */
async function endAutovacuum(db: Kysely<TutorialsDatabase>) {
  await sql`set local lock_timeout = '1300ms'`.execute(db);
  await sql`lock table tutorial in share update exclusive mode`.execute(db);
}

/** Another session, such as a backup, reads the table; or the role may only delete rows. */
const NOT_TO_BE_TRUNCATED = new Set<string>([SQLSTATE.LOCK_NOT_AVAILABLE, SQLSTATE.INSUFFICIENT_PRIVILEGE]);

/** Blocks other sessions while it counts the rows, 60 ms for a million, and empties the table in a moment. `delete` takes seconds. */
async function truncate(db: Kysely<TutorialsDatabase>) {
  // Readers of the table wait too while this session waits for the lock.
  await sql`set local lock_timeout = '200ms'`.execute(db);
  // Takes the lock that `truncate` needs. Otherwise two sessions could each hold a weaker lock and wait for this one: a deadlock.
  await sql`lock table tutorial in access exclusive mode`.execute(db);
  // Scans the table, because here, unlike in all other statements of requests, the index takes three times as long.
  await sql`set local enable_seqscan = on`.execute(db);
  const { count } = await db
    .selectFrom('tutorial')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow();
  await sql`truncate tutorial`.execute(db);
  return count;
}

function missing(message: string): never {
  throw new NotFoundError(message);
}
