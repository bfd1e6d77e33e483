import { parse } from 'node:querystring';
import formbody from '@fastify/formbody';
import { HttpError } from '@rest-services/errors';
import { rowsOf } from '@rest-services/pagination';
import { createService, type Settings } from '@rest-services/service';
import { sql, type Kysely } from 'kysely';
import type { Static } from 'typebox';
import { constraints, type LanguagesDatabase } from './database.ts';
import * as schemas from './schemas.ts';

/** The programming languages service: every route of the contract, without the process around it. */
export async function buildApp(db: Kysely<LanguagesDatabase>, settings: Settings) {
  const app = await createService({
    settings,
    title: 'Programming languages',
    description: 'Programming languages with their release year and their ranks in three rankings.',
    failure: 'Internal Server Error',
    withCode: false,
    constraints,
  });
  await app.register(formbody, { parser: parseForm });

  app.get('/', { schema: schemas.checkService }, () => ({ message: 'ok' }));

  app.get('/programming-languages', { schema: schemas.listLanguages }, async ({ query: { page = 1 } }) => {
    const { offset, limit } = rowsOf({ page });
    const data = await db
      .selectFrom('programming_language')
      .selectAll()
      .orderBy('id')
      .offset(offset)
      .limit(limit)
      .execute();
    return { data, meta: { page } };
  });

  app.post('/programming-languages', { schema: schemas.createLanguage }, async ({ body }) => {
    const { numInsertedOrUpdatedRows } = await db
      .insertInto('programming_language')
      .values(fields(body))
      .executeTakeFirstOrThrow();
    return outcome('creating', numInsertedOrUpdatedRows);
  });

  app.put('/programming-languages/:id', { schema: schemas.updateLanguage }, async ({ params: { id = 0 }, body }) => {
    const { numUpdatedRows } = await db
      .updateTable('programming_language')
      .set({ ...fields(body), updated_at: sql`now()` })
      .where('id', '=', id)
      .executeTakeFirst();
    return outcome('updating', numUpdatedRows);
  });

  app.delete('/programming-languages/:id', { schema: schemas.deleteLanguage }, async ({ params: { id = 0 } }) => {
    const { numDeletedRows } = await db.deleteFrom('programming_language').where('id', '=', id).executeTakeFirst();
    return outcome('deleting', numDeletedRows);
  });

  return app;
}

/** All five fields, null where a rank was not sent. */
function fields(body: Static<typeof schemas.createLanguage.body>) {
  return { githut_rank: null, pypl_rank: null, tiobe_rank: null, ...body };
}

const past = { creating: 'created', updating: 'updated', deleting: 'deleted' };

/** The contract answers 200 either way; the message tells what happened. */
function outcome(action: keyof typeof past, rows: bigint | undefined) {
  return {
    message: rows ? `Programming language ${past[action]} successfully` : `Error in ${action} programming language`,
  };
}

/** Of a repeated field the first value counts. @throws HttpError 400 when a value is no UTF-8, which `parse` would alter */
function parseForm(text: string) {
  if (text.includes('\ufffd') || !(text.match(/(%[0-9a-f]{2})+/gi) ?? []).every(isUtf8)) {
    throw new HttpError(400, 'Body is not valid UTF-8');
  }
  const fields = Object.entries(parse(text, '&', '=', { maxKeys: 0 }));
  return Object.fromEntries(fields.map(([name, value]) => [name, [value].flat()[0]]));
}

function isUtf8(percentEncoded: string) {
  try {
    return decodeURIComponent(percentEncoded) !== '';
  } catch {
    return false;
  }
}
