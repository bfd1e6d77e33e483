import type { TSchema } from 'typebox';

interface Shape extends TSchema {
  $id?: string;
  properties?: Record<string, Shape>;
  items?: Shape;
}

/**
 * Compiles a shape.
 * @throws Error that names the property that can't be compiled, and its shape: `CreateItem.week: unknown format "week" …`
 */
export function compiled<Compiled>(shape: TSchema, compile: (shape: TSchema) => Compiled): Compiled {
  try {
    return compile(shape);
  } catch (cause) {
    const { message } = cause as Error;
    const name = culprit(shape, compile);
    throw new Error(name ? `${name}: ${message}` : message, { cause });
  }
}

function culprit(shape: Shape, compile: (shape: TSchema) => unknown): string | undefined {
  if (shape.items) return culprit(shape.items, compile);
  for (const [name, property] of Object.entries(shape.properties ?? {})) {
    try {
      compile({ type: 'object', properties: { [name]: property } });
    } catch {
      return culprit(property, compile) ?? `${shape.$id ? `${shape.$id}.` : ''}${name}`;
    }
  }
  return undefined;
}
