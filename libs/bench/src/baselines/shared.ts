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

/** A pattern for texts that contain this one, in which `%`, `_` and `\` are ordinary characters. */
export const containing = (text: string) => `%${text.replaceAll(/[\\%_]/g, String.raw`\$&`)}%`;
