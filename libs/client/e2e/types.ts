// Compiled here, and with the types of the package where that is installed: which calls have which types, and which have none.
import * as api from '../src/index.ts';

const items = api.itemsClient({ baseUrl: 'http://localhost:8080' });

export type Item = api.ItemsPaths['/v1/items/{id}']['get']['responses'][200]['content']['application/json'];

export async function typed() {
  const id: number = (await api.unwrap(items.POST('/v1/items', { body: { title: 'Buy milk' } }))).id;
  const item: Item = await api.unwrap(items.GET('/v1/items/{id}', { params: { path: { id } } }));
  const json: string = await api.unwrap(items.GET('/v1/items', { parseAs: 'text' }));
  for await (const page of api.pages(items, '/v1/items', { params: { query: { limit: 2 } } })) page satisfies Item[];
  for await (const page of api.pages(api.programmingLanguagesClient({}), '/programming-languages'))
    page.data[0]?.name satisfies string | undefined;
  (await api.unwrap(api.todosClient({}).GET('/api/todos')))[0]?.isCompleted satisfies 0 | 1 | undefined;
  (await api.unwrap(api.tutorialsClient({}).DELETE('/api/tutorials'))).message satisfies string;
  return [item, json];
}

export function codeOf(error: unknown): string | undefined {
  return error instanceof api.ResponseError ? error.body?.error?.code : undefined;
}

export function refused() {
  // @ts-expect-error There is no such path.
  void items.GET('/v2/items');
  // @ts-expect-error A title is a string.
  void items.POST('/v1/items', { body: { title: 12 } });
  // @ts-expect-error A limit is a number.
  api.pages(items, '/v1/items', { params: { query: { limit: 'two' } } });
}
