/** A service as the local stack runs it. */
export interface LocalService {
  name: string;
  /** Its own default port, used when it runs alone. */
  port: number;
  /** Where it listens when all of them run. */
  sharedPort: number;
  path: string;
  /** The app whose build it serves as its pages, in production mode. */
  client?: string;
}

export const services: LocalService[] = [
  { name: 'items', port: 8080, sharedPort: 8080, path: '/v1/items' },
  { name: 'programming-languages', port: 3000, sharedPort: 3000, path: '/programming-languages' },
  { name: 'todos', port: 3000, sharedPort: 3001, path: '/api/todos', client: 'todos-web' },
  { name: 'tutorials', port: 8080, sharedPort: 8082, path: '/api/tutorials' },
];
