// Fastify, Kysely and pg as their guides put them together: each request runs its own statement. It reads and writes the service's
// own table, whose triggers count rows, so that a ratio to it tells what sharing statements brings.
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import Fastify from 'fastify';
import { Kysely, PostgresDialect, sql, type Generated } from 'kysely';
import pg from 'pg';
import { Type, type Static } from 'typebox';
import { Item, Items } from './shared.ts';

const Tutorial = Type.Object({
  id: Type.Integer(),
  title: Type.String(),
  description: Type.String(),
  published: Type.Boolean(),
});
type ItemRow = Static<typeof Item>;

interface Tables {
  item: { [Column in keyof ItemRow]: Column extends 'title' ? ItemRow[Column] : Generated<ItemRow[Column]> };
  plain_tutorial: Static<typeof Tutorial>;
}

pg.types.setTypeParser(pg.types.builtins.INT8, Number);
const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL!, max: 10, idleTimeoutMillis: 300_000 });
pool.on('error', console.error);
const db = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) });
const app = Fastify().withTypeProvider<TypeBoxTypeProvider>();

const Id = Type.Object({ id: Type.Integer() });
const Message = Type.Object({ message: Type.String() });
const Title = Type.String({ maxLength: 150, pattern: String.raw`\S` });
const Status = Type.Enum(['Doing', 'Finished']);
const Change = Type.Partial(Type.Object({ title: Title, status: Status }), {
  ...{ minProperties: 1, additionalProperties: false },
});
const Page = Type.Object({
  page: Type.Integer({ minimum: 1, default: 1 }),
  limit: Type.Integer({ minimum: 1, default: 10 }),
});

app.get('/v1/items', { schema: { querystring: Page, response: { 200: Items } } }, ({ query: { page, limit } }) =>
  db
    .selectFrom('item')
    .selectAll()
    .orderBy('id')
    .offset((page - 1) * limit)
    .limit(limit)
    .execute(),
);

app.get(
  '/v1/items/:id',
  { schema: { params: Id, response: { 200: Item, 404: Message } } },
  async ({ params }, reply) => {
    const item = await db.selectFrom('item').selectAll().where('id', '=', params.id).executeTakeFirst();
    return item ?? reply.code(404).send({ message: 'Item not found' });
  },
);

app.post(
  '/v1/items',
  { schema: { body: Type.Object({ title: Title }), response: { 201: Id } } },
  async ({ body }, reply) => {
    const created = await db.insertInto('item').values({ title: body.title }).returning('id').executeTakeFirstOrThrow();
    return reply.code(201).send(created);
  },
);

app.put(
  '/v1/items/:id',
  { schema: { params: Id, body: Change, response: { 200: Message, 404: Message } } },
  async ({ params, body }, reply) => {
    const { numUpdatedRows } = await db
      .updateTable('item')
      .set({ ...body, updated_at: sql`now()` })
      .where('id', '=', params.id)
      .executeTakeFirst();
    if (numUpdatedRows > 0n) return { message: 'Item updated successfully' };
    return reply.code(404).send({ message: 'Item not found' });
  },
);

app.get(
  '/api/tutorials',
  { schema: { querystring: Type.Object({ title: Type.String() }), response: { 200: Type.Array(Tutorial) } } },
  ({ query }) =>
    db
      .selectFrom('plain_tutorial')
      .selectAll()
      .where('title', 'ilike', `%${query.title.replaceAll(/[\\%_]/g, String.raw`\$&`)}%`)
      .orderBy('id')
      .execute(),
);

await app.listen({ host: process.env.HOST!, port: Number(process.env.PORT) });
