import createClient, { type Client, type ClientOptions } from 'openapi-fetch';
import type { paths as ItemsPaths } from './generated/items.ts';
import type { paths as ProgrammingLanguagesPaths } from './generated/programming-languages.ts';
import type { paths as TodosPaths } from './generated/todos.ts';
import type { paths as TutorialsPaths } from './generated/tutorials.ts';

// Each client is typed by its service's OpenAPI document. `baseUrl` is where the service stands, without its paths.

/** `itemsClient({ baseUrl }).POST('/v1/items', { body: { title: 'Buy milk' } })` */
export const itemsClient = (options: ClientOptions): Client<ItemsPaths> => createClient<ItemsPaths>(options);

export const programmingLanguagesClient = (options: ClientOptions): Client<ProgrammingLanguagesPaths> =>
  createClient<ProgrammingLanguagesPaths>(options);

export const todosClient = (options: ClientOptions): Client<TodosPaths> => createClient<TodosPaths>(options);

export const tutorialsClient = (options: ClientOptions): Client<TutorialsPaths> =>
  createClient<TutorialsPaths>(options);

export { fetchWithRetries, retryFor } from './fetch-with-retries.ts';
export { pages } from './pages.ts';
export { ResponseError, unwrap, type ErrorBody } from './unwrap.ts';
export type { Client, ClientOptions };
export type { ItemsPaths, ProgrammingLanguagesPaths, TodosPaths, TutorialsPaths };
