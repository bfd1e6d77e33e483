import type { HttpRequest, HttpResponse, Send } from './clients/send.ts';

export interface Row {
  id: number;
  title: string;
  status: string;
}

export type Kind = 'create' | 'read' | 'update' | 'delete' | 'list' | 'summary';

/** A request of a client, and its outcome. Times are milliseconds since the start of the history. */
export interface Operation extends Omit<HttpRequest, 'url'> {
  kind: Kind;
  client: string;
  /** Index of the service process; `undefined` for operations of the database itself. */
  service: number | undefined;
  /** Id in the path. */
  key?: number;
  /** Rows that a list requested. */
  position?: { offset: number; limit: number };
  /** Number of the walk over all pages that the list is part of. */
  walk?: number;
  startedAt: number;
  endedAt: number;
  response?: HttpResponse;
  /** Code of the error, in place of a whole response. */
  error?: string;
}

/** What a client decides about an operation. */
export type Request = Pick<Operation, 'kind' | 'method' | 'path'> &
  Partial<Pick<Operation, 'body' | 'ifMatch' | 'idempotencyKey' | 'key' | 'position' | 'walk'>>;

/** The operations of one run, in the order of their ends. */
export class History {
  readonly operations: Operation[] = [];
  readonly #origin = performance.now();
  #requests = 0;

  now() {
    return performance.now() - this.#origin;
  }

  /** Sends a request and records its outcome. */
  async record(client: string, service: number, url: string, request: Request, send: Send): Promise<Operation> {
    const requestId = `${client}-${(this.#requests += 1)}`;
    const operation: Operation = { ...request, client, service, requestId, startedAt: this.now(), endedAt: Infinity };
    try {
      operation.response = await send({ ...request, url, requestId });
    } catch (error) {
      const { code, name } = error as NodeJS.ErrnoException;
      operation.error = code ?? name;
    }
    operation.endedAt = this.now();
    this.operations.push(operation);
    return operation;
  }
}

/** Whether the response says that the operation has been done. */
export const isDone = ({ response }: Operation) => response !== undefined && response.status < 300;

export const statusOf = ({ response }: Operation) => response?.status;

/** Whether a write may have been done, now or later. */
export const isUnknown = ({ response }: Operation) => response === undefined || response.status >= 500;

/** Id that a create responded. */
export const createdId = (operation: Operation) =>
  operation.kind === 'create' && isDone(operation) ? (operation.response!.body as { id: number }).id : undefined;

/** Rows that a read or a list responded. */
export function rowsOf(operation: Operation): Row[] {
  if (!isDone(operation)) return [];
  if (operation.kind === 'read') return [operation.response!.body as Row];
  return operation.kind === 'list' ? (operation.response!.body as Row[]) : [];
}

/** Ids that a list says all about: an item in this range that it lacks does not exist. `undefined` for a page past the end. */
export function idRange(operation: Operation): { low: number; high: number } | undefined {
  const rows = rowsOf(operation);
  const { offset, limit } = operation.position!;
  if (rows.length === 0 && offset > 0) return undefined;
  return {
    low: offset === 0 ? 0 : rows[0]!.id,
    high: rows.length < limit ? Infinity : rows.at(-1)!.id,
  };
}

/**
 * What was done in the database itself, as the request of one item that would have done it.
 * @param id `undefined` for a create of unknown outcome
 * @param values what a write sets, or what a read has found
 * @param error in place of the outcome of a write
 */
export function directOperation(
  kind: 'create' | 'read' | 'update' | 'delete',
  id: number | undefined,
  values: Operation['body'],
  common: Pick<Operation, 'client' | 'startedAt' | 'endedAt'>,
  error?: string,
): Operation {
  const isRead = kind === 'read';
  const method = ({ create: 'POST', read: 'GET', update: 'PUT', delete: 'DELETE' } as const)[kind];
  return {
    ...{ kind, ...common, service: undefined, requestId: '', method, path: `/v1/items/${id ?? ''}` },
    ...(kind !== 'create' && { key: id! }),
    ...(values && !isRead && { body: values }),
    ...(error && !isRead
      ? { error }
      : { response: { status: 200, requestId: '', body: isRead ? { id, ...values } : { id } } }),
  };
}

/** One line: client, times, request, outcome. @param key the item whose row a list shows; others are only counted */
export function describe(operation: Operation, key?: number) {
  const { client, service, startedAt, endedAt, method, path, body, ifMatch, idempotencyKey, response } = operation;
  return [
    `${client}  ${startedAt.toFixed(1)}–${endedAt.toFixed(1)} ms `,
    service === undefined ? 'database ' : `service ${service} `,
    ...[method, path, body && JSON.stringify(body)],
    ...[ifMatch && `if-match ${ifMatch}`, idempotencyKey && `idempotency-key ${idempotencyKey}`, ''],
    response ? `${response.status} ${bodyOf(operation, key)}` : `unknown: ${operation.error}`,
  ]
    .filter((part) => part !== undefined)
    .join(' ');
}

function bodyOf(operation: Operation, key?: number) {
  const { body, total, tag } = operation.response!;
  if (operation.kind !== 'list' || !isDone(operation)) return JSON.stringify(body) + (tag ? ` etag ${tag}` : '');
  const rows = rowsOf(operation);
  const row = JSON.stringify(rows.find(({ id }) => id === key) ?? 'absent');
  return `total ${total}, ${rows.length} rows, ${key === undefined ? `ids ${rows.map(({ id }) => id).join(' ')}` : row}`;
}
