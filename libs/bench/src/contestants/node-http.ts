// No framework and no query builder: what node:http and pg take by themselves, with statements that are prepared once.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { json } from 'node:stream/consumers';
import pg from 'pg';
import { containing } from './containing.ts';

pg.types.setTypeParser(pg.types.builtins.INT8, Number);
const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL!, max: 10, idleTimeoutMillis: 300_000 });

const server = createServer((request, response) => {
  route(request, response).catch((error: unknown) => {
    console.error(error);
    answer(response, 500, { message: 'Database error' });
  });
});
server.listen(Number(process.env.PORT), process.env.HOST);

async function route(request: IncomingMessage, response: ServerResponse) {
  const [path = '', query = ''] = request.url!.split('?');
  const id = /^\/v1\/items\/(\d+)$/.exec(path)?.[1];
  const call = `${request.method} ${id ? '/v1/items/:id' : path}`;
  switch (call) {
    case 'GET /v1/items':
      return listItems(response, new URLSearchParams(query));
    case 'POST /v1/items':
      return createItem(response, (await json(request)) as { title?: unknown });
    case 'GET /v1/items/:id':
      return readItem(response, id!);
    case 'PUT /v1/items/:id':
      return updateItem(response, id!, (await json(request)) as { title?: string; status?: string });
    case 'GET /api/tutorials':
      return searchTutorials(response, new URLSearchParams(query).get('title') ?? '');
    default:
      answer(response, 404, { message: 'Not found' });
  }
}

async function listItems(response: ServerResponse, query: URLSearchParams) {
  const limit = Number(query.get('limit') ?? 10);
  const offset = (Number(query.get('page') ?? 1) - 1) * limit;
  const { rows } = await pool.query({
    name: 'list-items',
    text: 'select id, title, status, created_at, updated_at from plain_item order by id offset $1 limit $2',
    values: [offset, limit],
  });
  answer(response, 200, rows);
}

async function readItem(response: ServerResponse, id: string) {
  const { rows } = await pool.query<object>({
    name: 'read-item',
    text: 'select id, title, status, created_at, updated_at from plain_item where id = $1',
    values: [id],
  });
  answerOneOf(response, rows);
}

async function createItem(response: ServerResponse, { title }: { title?: unknown }) {
  if (typeof title !== 'string' || title.trim() === '') {
    answer(response, 400, { message: 'Title cannot be empty' });
    return;
  }
  const { rows } = await pool.query<object>({
    name: 'create-item',
    text: 'insert into plain_item (title) values ($1) returning id',
    values: [title],
  });
  answer(response, 201, rows[0]!);
}

async function updateItem(
  response: ServerResponse,
  id: string,
  { title, status }: { title?: string; status?: string },
) {
  const { rowCount } = await pool.query({
    name: 'update-item',
    text: 'update plain_item set title = coalesce($2, title), status = coalesce($3, status), updated_at = now() where id = $1',
    values: [id, title, status],
  });
  answerOneOf(response, rowCount ? [{ message: 'Item updated successfully' }] : []);
}

async function searchTutorials(response: ServerResponse, title: string) {
  const { rows } = await pool.query({
    name: 'search-tutorials',
    text: 'select id, title, description, published from plain_tutorial where title ilike $1 order by id',
    values: [containing(title)],
  });
  answer(response, 200, rows);
}

function answerOneOf(response: ServerResponse, [found]: object[]) {
  if (found) answer(response, 200, found);
  else answer(response, 404, { message: 'Item not found' });
}

function answer(response: ServerResponse, status: number, body: object) {
  const text = JSON.stringify(body);
  response.writeHead(status, {
    'content-type': 'application/json; charset=utf-8',
    'content-length': Buffer.byteLength(text),
  });
  response.end(text);
}
