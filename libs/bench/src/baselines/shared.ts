/** JSON schema of an item, from which Fastify compiles a serializer. */
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
