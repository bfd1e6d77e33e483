import { repository, type Database } from '@rest-services/database';
import { PreconditionFailedError } from '@rest-services/errors';
import { pageHeaders, rowsOf } from '@rest-services/pagination';
import {
  acceptForms,
  columnsOf,
  createService,
  idempotencyKeyOf,
  refuseTags,
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
  await acceptForms(app, fields);

  const languages = repository(db, 'programming_language', {
    columns: columnsOf(schemas.StoredLanguage),
    insert: fields,
    update: { columns: fields, absent: 'null', touch: 'updated_at' },
  });

  app.get('/', { schema: schemas.checkService }, () => ({ message: 'ok' }));

  app.get('/programming-languages', { schema: schemas.listLanguages }, async ({ query: { page = 1 } }, reply) => {
    const { total, rows } = await languages.page(rowsOf({ page }));
    void reply.headers(pageHeaders({ page }, total));
    return { data: rows, meta: { page } };
  });

  app.post('/programming-languages', { schema: schemas.createLanguage }, async (request) =>
    outcome('creating', await languages.insert(request.body, idempotencyKeyOf(request))),
  );

  app.put('/programming-languages/:id', { schema: schemas.updateLanguage }, async (request) => {
    refuseTags(request);
    const { params, body, headers } = request;
    return outcome('updating', await languages.update(params.id ?? 0, body), headers['if-match']);
  });

  app.delete('/programming-languages/:id', { schema: schemas.deleteLanguage }, async (request) => {
    refuseTags(request);
    const { params, headers } = request;
    return outcome('deleting', await languages.delete(params.id ?? 0), headers['if-match']);
  });

  return app;
}

const fields = columnsOf(schemas.Language);

const past = { creating: 'created', updating: 'updated', deleting: 'deleted' };

/** Both outcomes are 200 in the contract; the message says which. @throws PreconditionFailedError with `If-Match: *` where no row is */
function outcome(action: keyof typeof past, success: unknown, ifMatch?: string) {
  if (!success && ifMatch !== undefined) throw new PreconditionFailedError();
  return {
    message: success ? `Programming language ${past[action]} successfully` : `Error in ${action} programming language`,
  };
}
