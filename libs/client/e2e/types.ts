// Compiled here, and with the types of the package where that is installed: which calls have which types, and which have none.
import {
  itemsClient,
  pages,
  programmingLanguagesClient,
  ResponseError,
  todosClient,
  tutorialsClient,
  unwrap,
  type ItemsPaths,
} from '../src/index.ts';

const items = itemsClient({ baseUrl: 'http://localhost:8080' });

export type Item = ItemsPaths['/v1/items/{id}']['get']['responses'][200]['content']['application/json'];

export async function typed() {
  const id: number = (await unwrap(items.POST('/v1/items', { body: { title: 'Buy milk' } }))).id;
  const item: Item = await unwrap(items.GET('/v1/items/{id}', { params: { path: { id } } }));
  const json: string = await unwrap(items.GET('/v1/items', { parseAs: 'text' }));
  for await (const page of pages(items, '/v1/items', { params: { query: { limit: 2 } } })) page satisfies Item[];
  for await (const page of pages(programmingLanguagesClient({}), '/programming-languages'))
    page.data[0]?.name satisfies string | undefined;
  (await unwrap(todosClient({}).GET('/api/todos')))[0]?.isCompleted satisfies 0 | 1 | undefined;
  (await unwrap(tutorialsClient({}).DELETE('/api/tutorials'))).message satisfies string;
  return [item, json];
}

export function codeOf(error: unknown): string | undefined {
  return error instanceof ResponseError ? error.body?.error?.code : undefined;
}

export function refused() {
  // @ts-expect-error There is no such path.
  void items.GET('/v2/items');
  // @ts-expect-error A title is a string.
  void items.POST('/v1/items', { body: { title: 12 } });
  // @ts-expect-error A limit is a number.
  pages(items, '/v1/items', { params: { query: { limit: 'two' } } });
}
