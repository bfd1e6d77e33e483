// Fastify, Kysely and pg as most people would put them together: each request runs its own statement.
import Fastify from 'fastify';
import { Kysely, PostgresDialect, sql, type Generated } from 'kysely';
import pg from 'pg';
import { containing } from './containing.ts';
import { Id, Item, Items, Message, Tutorials } from './schemas.ts';

interface ItemTable {
  id: Generated<number>;
  title: string;
  status: Generated<string>;
  created_at: Generated<Date>;
  updated_at: Generated<Date>;
}

interface Tables {
  item: ItemTable;
  plain_item: ItemTable;
  plain_tutorial: { id: Generated<number>; title: string; description: string; published: boolean };
}

pg.types.setTypeParser(pg.types.builtins.INT8, Number);
const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL!, max: 10, idleTimeoutMillis: 300_000 });
const db = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) });
const items = process.env.ITEM_TABLE as 'item' | 'plain_item';
const app = Fastify();

const title = { type: 'string', maxLength: 150, pattern: String.raw`\S` } as const;
const page = {
  type: 'object',
  properties: {
    page: { type: 'integer', minimum: 1, default: 1 },
    limit: { type: 'integer', minimum: 1, default: 10 },
  },
} as const;

app.get<{ Querystring: { page: number; limit: number } }>(
  '/v1/items',
  { schema: { querystring: page, response: { 200: Items } } },
  ({ query: { page, limit } }) =>
    db
      .selectFrom(items)
      .selectAll()
      .orderBy('id')
      .offset((page - 1) * limit)
      .limit(limit)
      .execute(),
);

app.get<{ Params: { id: number } }>(
  '/v1/items/:id',
  { schema: { params: Id, response: { 200: Item, 404: Message } } },
  async ({ params }, reply) => {
    const item = await db.selectFrom(items).selectAll().where('id', '=', params.id).executeTakeFirst();
    return item ?? reply.code(404).send({ message: 'Item not found' });
  },
);

app.post<{ Body: { title: string } }>(
  '/v1/items',
  { schema: { body: { type: 'object', required: ['title'], properties: { title } }, response: { 201: Id } } },
  async ({ body }, reply) => {
    const created = await db.insertInto(items).values({ title: body.title }).returning('id').executeTakeFirstOrThrow();
    return reply.code(201).send(created);
  },
);

app.put<{ Params: { id: number }; Body: { title?: string; status?: string } }>(
  '/v1/items/:id',
  {
    schema: {
      params: Id,
      body: {
        type: 'object',
        minProperties: 1,
        additionalProperties: false,
        properties: { title, status: { enum: ['Doing', 'Finished'] } },
      },
      response: { 200: Message, 404: Message },
    },
  },
  async ({ params, body }, reply) => {
    const { numUpdatedRows } = await db
      .updateTable(items)
      .set({ ...body, updated_at: sql`now()` })
      .where('id', '=', params.id)
      .executeTakeFirst();
    if (numUpdatedRows > 0n) return { message: 'Item updated successfully' };
    return reply.code(404).send({ message: 'Item not found' });
  },
);

app.get<{ Querystring: { title: string } }>(
  '/api/tutorials',
  {
    schema: {
      querystring: { type: 'object', required: ['title'], properties: { title: { type: 'string' } } },
      response: { 200: Tutorials },
    },
  },
  ({ query }) =>
    db
      .selectFrom('plain_tutorial')
      .selectAll()
      .where('title', 'ilike', containing(query.title))
      .orderBy('id')
      .execute(),
);

await app.listen({ host: process.env.HOST!, port: Number(process.env.PORT) });
