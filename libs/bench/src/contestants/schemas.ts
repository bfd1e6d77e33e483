/** JSON schemas of what the Fastify contestants answer, from which Fastify compiles serializers. */
export const Item = {
  type: 'object',
  properties: {
    id: { type: 'integer' },
    title: { type: 'string' },
    status: { type: 'string' },
    created_at: { type: 'string', format: 'date-time' },
    updated_at: { type: 'string', format: 'date-time' },
  },
} as const;

export const Items = { type: 'array', items: Item } as const;

export const Tutorials = {
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

export const Id = { type: 'object', properties: { id: { type: 'integer' } } } as const;

export const Message = { type: 'object', properties: { message: { type: 'string' } } } as const;
