export interface Row {
  id: number;
  title: string;
  status: string;
}

/** What a client decides about a request of the items service. */
export interface Request {
  kind: 'create' | 'read' | 'update' | 'delete' | 'list' | 'summary';
  method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  path: string;
  /** Id in the path. */
  key?: number;
  body?: { title?: string; status?: string };
  ifMatch?: string;
  idempotencyKey?: string;
  /** Rows that a list requests. */
  position?: { offset: number; limit: number };
}

export interface Response {
  status: number;
  /** The header X-Total-Count. */
  total?: number | undefined;
  /** The header ETag. */
  tag?: string | undefined;
  body: unknown;
}

/** A request and its outcome. Times are milliseconds since the start of the history. */
export interface Operation extends Request {
  client: string;
  /** Index of the service process; `undefined` for operations of the database itself. */
  service: number | undefined;
  startedAt: number;
  endedAt: number;
  response?: Response;
  /** The error in place of a whole response. */
  error?: string;
}

/** The operations of one run, in the order of their ends. */
export class History {
  readonly operations: Operation[] = [];
  readonly #origin = performance.now();

  now() {
    return performance.now() - this.#origin;
  }

  /** Records a request and its outcome. */
  async record(client: string, service: number, request: Request, response: Promise<Response>): Promise<Operation> {
    const operation: Operation = { ...request, client, service, startedAt: this.now(), endedAt: Infinity };
    try {
      operation.response = await response;
    } catch (error) {
      operation.error = (error as Error).name;
    }
    operation.endedAt = this.now();
    this.operations.push(operation);
    return operation;
  }
}

export const statusOf = ({ response }: Operation) => response?.status;

/** Whether the response says that the operation has been done. */
export const isDone = ({ response }: Operation) => response !== undefined && response.status < 300;

/** Whether a write may have been done, or may still be. A 503 has done nothing. */
export const isUnknown = ({ response }: Operation) => response === undefined || response.status === 500;

/** Id that a create responded. */
export const createdId = (operation: Operation) =>
  operation.kind === 'create' && isDone(operation) ? (operation.response!.body as { id: number }).id : undefined;

/** Rows that a read or a list responded. */
export function rowsOf(operation: Operation): Row[] {
  if (!isDone(operation)) return [];
  if (operation.kind === 'read') return [operation.response!.body as Row];
  return operation.kind === 'list' ? (operation.response!.body as Row[]) : [];
}

/** A request of a page. */
export function list(page: number, limit: number): Request {
  const position = { offset: (page - 1) * limit, limit };
  return { kind: 'list', method: 'GET', path: `/v1/items?page=${page}&limit=${limit}`, position };
}

/** One line. @param id of the item whose row a list shows, without the others */
export const describe = (operation: Operation, id?: number) =>
  JSON.stringify(operation, (_, value: unknown) =>
    Array.isArray(value) ? (value as Row[]).filter((row) => row.id === id) : value,
  );
