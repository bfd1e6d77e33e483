import { withDeadline } from '@rest-services/concurrency';
import pg from 'pg';
import { SESSION_MS } from '../time-budget.ts';
import { isOfPreparation, isReadOnlyError, isTimeout, noResponse, withErrorCode } from './errors.ts';
import type { Statement } from './statement.ts';
import { endWithError, startStatementSpan } from './statement-spans.ts';

/** A value of a statement; `undefined` is null, and an object is JSON. */
export type Value = string | number | boolean | null | undefined | object;

interface SessionOptions {
  target: pg.ClientConfig;
  /** `false` for migrations. */
  hasTimeLimits: boolean;
  /** The server responded, with rows or an error. */
  onResponse: () => void;
  /** The server did not respond (ETIMEDOUT), ended the session, or takes no writes. `sentAt` is a time of `performance.now()`. */
  onLoss: (error: Error, sentAt: number) => void;
  /** Releases the session, whose statement did not end in time, and may be running. */
  onUnanswered: (statement: Promise<unknown>) => void;
}

/**
 * A session out of the pool, for one statement or transaction of a request, in whose time all statements together must end. After
 * `release()` it returns to the pool, unless the server has ended it or did not respond: a late response would answer the next statement.
 */
export class Session {
  readonly #client: pg.PoolClient;
  readonly #options: SessionOptions;
  readonly #deadline = performance.now() + SESSION_MS;
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
    const { target, hasTimeLimits, onResponse, onLoss } = this.#options;
    const span = startStatementSpan(text, target);
    const sentAt = performance.now();
    const response = this.#client.query<Row & object>({ text, values: [...values], ...(name ? { name } : {}) });
    try {
      const result = await (hasTimeLimits ? withDeadline(this.#deadline, response, noResponse) : response);
      onResponse();
      span?.end();
      return result;
    } catch (error) {
      if (span) endWithError(span, error);
      // A migration may have changed the table since the statement was prepared. PostgreSQL has undone it.
      if (name && isOfPreparation(error)) {
        const result = await this.query<Row>({ text }, values);
        this.#isOutdated = true;
        return result;
      }
      if (hasEnded(error)) {
        this.#lostBy = withErrorCode(error);
        if (isTimeout(error)) this.#unanswered = response;
        onLoss(this.#lostBy, sentAt);
      } else onResponse();
      throw error;
    }
  }

  release() {
    if (this.#unanswered) this.#options.onUnanswered(this.#unanswered);
    else this.#client.release(this.#isOutdated || this.#lostBy !== undefined);
  }
}

/** A session that began while its database was read-only stays read-only; a new one may write. */
const hasEnded = (error: unknown) =>
  !(error instanceof pg.DatabaseError) || error.severity === 'FATAL' || isReadOnlyError(error);
