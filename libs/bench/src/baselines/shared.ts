import { Type } from 'typebox';

const Time = Type.Unsafe<Date>({ type: 'string', format: 'date-time' });

/** An item, from whose schema Fastify compiles a serializer. */
export const Item = Type.Object({
  id: Type.Integer(),
  title: Type.String(),
  status: Type.String(),
  created_at: Time,
  updated_at: Time,
});

export const Items = Type.Array(Item);
