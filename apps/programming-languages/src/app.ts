import { Repository, type Database } from '@rest-services/database';
import { PreconditionFailedError } from '@rest-services/errors';
import { offsetAndLimit, pageHeaders } from '@rest-services/pagination';
import {
  acceptForms,
  createPreconditions,
  createService,
  idempotencyKeyOf,
  type Settings,
} from '@rest-services/service';
import { constraints, type LanguagesDatabase } from './database.ts';
import * as schemas from './schemas.ts';

/** The programming languages service: every route of the contract, without the process around it. */
export async function buildApp(db: Database<LanguagesDatabase>, settings: Settings) {
  const app = await createService({
    settings,
    title: 'Programming languages',
    description: 'Programming languages with their release year and their ranks in three rankings.',
    failure: 'Internal Server Error',
    includeCode: false,
    constraints,
  });
  await acceptForms(app, schemas.Language);

  const languages = new Repository(db, 'programming_language', {
    row: schemas.StoredLanguage,
    insert: schemas.Language,
    update: schemas.Language,
    absent: 'null',
    touch: 'updated_at',
  });
  const versionFor = createPreconditions(schemas.StoredLanguage, languages);

  app.get('/', { schema: schemas.checkService }, () => ({ message: 'ok' }));

  app.get('/programming-languages', { schema: schemas.listLanguages }, async ({ query: { page = 1 } }, reply) => {
    const { total, rows } = await languages.page(offsetAndLimit({ page }));
    void reply.headers(pageHeaders({ page }, total));
    return { data: rows, meta: { page } };
  });

  app.post('/programming-languages', { schema: schemas.createLanguage }, async (request) =>
    outcome('creating', await languages.insert(request.body, idempotencyKeyOf(request))),
  );

  app.put('/programming-languages/:id', { schema: schemas.updateLanguage }, async (request) => {
    const { id = NaN } = request.params;
    const isUpdated = await languages.update(id, request.body, await versionFor(request, id));
    return outcome('updating', isUpdated, request.headers['if-match']);
  });

  app.delete('/programming-languages/:id', { schema: schemas.deleteLanguage }, async (request) => {
    const { id = NaN } = request.params;
    const isDeleted = await languages.delete(id, await versionFor(request, id));
    return outcome('deleting', isDeleted, request.headers['if-match']);
  });

  return app;
}

const past = { creating: 'created', updating: 'updated', deleting: 'deleted' };

/** Both outcomes are 200 in the contract; the message says which. @throws PreconditionFailedError with `If-Match` where no record is */
function outcome(action: keyof typeof past, success: unknown, ifMatch?: string) {
  if (!success && ifMatch !== undefined) throw new PreconditionFailedError();
  return {
    message: success ? `Programming language ${past[action]} successfully` : `Error in ${action} programming language`,
  };
}
