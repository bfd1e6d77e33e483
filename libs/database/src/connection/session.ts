import pg from 'pg';
import { errorCode, SQLSTATE } from '../sqlstate.ts';
import { READ_MS, RESPONSE_MS } from '../time-budget.ts';
import { isReadOnlyError, isTimeout, withErrorCode } from './errors.ts';
import type { Statement } from './statement.ts';
import { endWithError, startStatementSpan, type StatementTarget } from './statement-spans.ts';

/** A value of a statement; `undefined` is null, and an object is JSON. */
export type Value = string | number | boolean | null | undefined | object;

interface SessionOptions {
  target: StatementTarget;
  /** `false` for migrations. */
  hasTimeout: boolean;
  /** `false` after another session of the same server was lost: the pool closes the connection. */
  isCurrent: () => boolean;
  /** The server responded, with rows or an error. */
  onResponse: () => void;
  /** The server did not respond (ETIMEDOUT), ended the session, or takes no writes. `sentAt` is a time of `performance.now()`. */
  onLoss: (error: unknown, sentAt: number) => void;
  /** The session is released while `statement`, which did not end in time, may be running; `close` must be called. */
  onAbandoned: (statement: Promise<unknown>, close: () => void) => void;
}

/**
 * A session out of the pool, for one statement or transaction of a request, in whose time all statements together must end. After
 * `release()` it returns to the pool, unless the server has ended it or did not respond: a late response would answer the next statement.
 */
export class Session {
  readonly #client: pg.PoolClient;
  readonly #options: SessionOptions;
  readonly #deadline = performance.now() + RESPONSE_MS;
  #lostBy: Error | undefined;
  #unanswered: Promise<unknown> | undefined;
  #isOutdated = false;

  constructor(client: pg.PoolClient, options: SessionOptions) {
    this.#client = client;
    this.#options = options;
  }

  /** @throws Error with a SQLSTATE or the name of a system error as `code` */
  async query<Row>(statement: Statement<Row>, values: readonly unknown[]): Promise<pg.QueryResult<Row & object>> {
    // A rollback would wait for a server that does not respond.
    if (this.#lostBy) throw this.#lostBy;
    const { text, name } = statement;
    const { target, hasTimeout, onResponse, onLoss } = this.#options;
    const span = startStatementSpan(text, target);
    const sentAt = performance.now();
    const response = this.#client.query<Row & object>({ text, values: [...values], ...(name ? { name } : {}) });
    try {
      const result = await (hasTimeout ? inTime(response, this.#deadline - sentAt) : response);
      onResponse();
      span?.end();
      return result;
    } catch (error) {
      if (span) endWithError(span, error);
      // A migration has changed the type of a column since the statement was prepared.
      if (name && errorCode(error) === SQLSTATE.FEATURE_NOT_SUPPORTED) {
        this.#isOutdated = true;
        return this.query({ text }, values);
      }
      if (hasEnded(error)) {
        this.#lostBy = withErrorCode(error);
        if (isTimeout(this.#lostBy)) this.#unanswered = response;
        onLoss(error, sentAt);
      } else onResponse();
      throw error;
    }
  }

  release() {
    if (this.#unanswered) this.#options.onAbandoned(this.#unanswered, () => this.#client.release(true));
    else this.#client.release(this.#isOutdated || this.#lostBy !== undefined || !this.#options.isCurrent());
  }
}

/** A session that began while its database was read-only stays read-only; a new one may write. */
const hasEnded = (error: unknown) =>
  !(error instanceof pg.DatabaseError) || error.severity === 'FATAL' || isReadOnlyError(error);

/**
 * Rejects when the response is late, with the code ETIMEDOUT. Unlike `query_timeout` of pg, takes a response that has arrived while
 * the event loop was blocked: the second timer starts when the loop runs again.
 */
export function inTime<Result>(response: Promise<Result>, ms: number) {
  return new Promise<Result>((resolve, reject) => {
    const fail = () => reject(Object.assign(new Error('The server did not respond in time'), { code: 'ETIMEDOUT' }));
    let timer = setTimeout(() => (timer = setTimeout(fail, READ_MS)), Math.max(1, ms));
    response.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
