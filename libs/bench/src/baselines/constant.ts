// The ceiling: Fastify with an answer that it has in hand, of the size of the real one.
import Fastify from 'fastify';
import { Item, Items } from './shared.ts';

const item = {
  id: 500_000,
  title: 'An item with number 500000',
  status: 'Doing',
  created_at: '2026-11-20T18:30:00.000Z',
  updated_at: '2026-11-20T18:30:00.000Z',
};
const page = Array.from({ length: 10 }, () => item);

const app = Fastify();
app.get('/v1/items', { schema: { response: { 200: Items } } }, () => page);
app.get('/v1/items/:id', { schema: { response: { 200: Item } } }, () => item);

await app.listen({ host: process.env.HOST!, port: Number(process.env.PORT) });
