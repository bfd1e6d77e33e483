// Fastify, Kysely and pg as their guides put them together: each request runs its own statement. It reads and writes the service's
// own table, whose triggers count rows, so that a ratio to it tells what sharing statements brings.
import Fastify from 'fastify';
import { Kysely, PostgresDialect, sql, type Generated } from 'kysely';
import pg from 'pg';
import { Item, Items } from './shared.ts';

interface Tables {
  item: {
    id: Generated<number>;
    title: string;
    status: Generated<string>;
    created_at: Generated<Date>;
    updated_at: Generated<Date>;
  };
  plain_tutorial: { id: Generated<number>; title: string; description: string; published: boolean };
}

pg.types.setTypeParser(pg.types.builtins.INT8, Number);
const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL!, max: 10, idleTimeoutMillis: 300_000 });
pool.on('error', console.error);
const db = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) });
const app = Fastify();

const Id = { type: 'object', properties: { id: { type: 'integer' } } } as const;
const Message = { type: 'object', properties: { message: { type: 'string' } } } as const;
const Tutorials = {
  type: 'array',
  items: {
    type: 'object',
    properties: {
      id: { type: 'integer' },
      title: { type: 'string' },
      description: { type: 'string' },
      published: { type: 'boolean' },
    },
  },
} as const;
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
      .selectFrom('item')
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
    const item = await db.selectFrom('item').selectAll().where('id', '=', params.id).executeTakeFirst();
    return item ?? reply.code(404).send({ message: 'Item not found' });
  },
);

app.post<{ Body: { title: string } }>(
  '/v1/items',
  { schema: { body: { type: 'object', required: ['title'], properties: { title } }, response: { 201: Id } } },
  async ({ body }, reply) => {
    const created = await db.insertInto('item').values({ title: body.title }).returning('id').executeTakeFirstOrThrow();
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
      .updateTable('item')
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
      .where('title', 'ilike', `%${query.title.replaceAll(/[\\%_]/g, String.raw`\$&`)}%`)
      .orderBy('id')
      .execute(),
);

await app.listen({ host: process.env.HOST!, port: Number(process.env.PORT) });
