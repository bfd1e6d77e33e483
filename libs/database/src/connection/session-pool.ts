import { setImmediate, setTimeout as sleep } from 'node:timers/promises';
import { withDeadline } from '@rest-services/concurrency';
import { OverloadedError } from '@rest-services/errors';
import pg from 'pg';
import type { Distribution } from '../distribution.ts';
import { CONNECTION_WAIT_MS } from '../time-budget.ts';
import { clientConfig, hasParameters, type ConnectionOptions } from './client-config.ts';
import { isPoolTimeout, isReadOnlyError, isTimeout, withErrorCode } from './errors.ts';
import { LoginClient } from './login-client.ts';
import { parseConnectionUrl } from './server/connection-url.ts';
import { Session, type Value } from './session.ts';
import type { Statement } from './statement.ts';
import { recordConnectionWait } from './statement-spans.ts';

/**
 * An idle connection is closed after this time. A new one is slow at first: when all are new, 64 clients get half as many responses in
 * the first half second.
 */
const IDLE_MS = 300_000;

/** Maximum age of a connection. After a switch-over that closes no session, reads go on at the old primary until then. */
const MAX_LIFETIME_SECONDS = 600;

/** Maximum number of requests that wait, per connection. More would wait longer than `CONNECTION_WAIT_MS`. */
const WAITING_PER_CONNECTION = 100;

/** Maximum time for which a session whose statement did not end in time keeps its place in the pool. */
const UNANSWERED_MS = 10_000;

/** Age of a response that still shows that the server can be reached, and of a refusal that still shows that it takes no further sessions. */
const RECENT_MS = 1_000;

export interface SessionPoolOptions extends ConnectionOptions {
  /** Maximum number of connections. */
  poolMax: number;
  /**
   * A connection was lost, or, once a second at most, a further one refused, beside others that work.
   * @param server such as `db:5432`
   */
  onConnectionError: (error: Error, server: string, event: string) => void;
}

/** Sessions with time limits out of a pool of connections to one server. */
export class SessionPool {
  readonly pool: pg.Pool;
  /** Number of connections that the server has ended, or on which it did not respond. */
  lostConnections = 0;
  readonly #options: SessionPoolOptions;
  readonly #target: pg.ClientConfig;
  readonly #waits: Distribution;
  readonly #ending = new AbortController();
  readonly #connectedAt = new WeakMap<pg.PoolClient, number>();
  /** Wakes a request that waits for a session that is in use, the longest wait first. */
  readonly #waiting = new Set<() => void>();
  #inUse = 0;
  #refusedAt = -Infinity;
  #respondedAt = -Infinity;
  #failedAt = -Infinity;
  #silentAt = -Infinity;

  /** @param waits gets the seconds that each statement or transaction has waited for its connection, whether it got one or not */
  constructor(options: SessionPoolOptions, waits: Distribution) {
    this.#options = options;
    this.#waits = waits;
    this.#target = parseConnectionUrl(options.url);
    this.pool = new pg.Pool({
      ...clientConfig(this.#target, options),
      Client: LoginClient,
      max: options.poolMax,
      idleTimeoutMillis: IDLE_MS,
      maxLifetimeSeconds: MAX_LIFETIME_SECONDS,
    });
    // Without a listener, a client that is in use when the server goes away ends the process. The pool reports idle ones once more.
    this.pool.on('connect', (client) => {
      this.#connectedAt.set(client, performance.now());
      client.on('error', (error) => {
        this.#countLoss();
        this.#report(error, 'database connection lost');
      });
    });
    this.pool.on('error', () => undefined);
    this.pool.on('acquire', () => (this.#inUse += 1));
    this.pool.on('release', () => {
      this.#inUse -= 1;
      const [wake] = this.#waiting;
      wake?.();
    });
  }

  /** Number of requests that wait for a connection. */
  get waiting() {
    return this.pool.waitingCount + this.#waiting.size;
  }

  /** Whether the server has responded in the last second, and no connection has failed since. */
  get isResponding() {
    return this.#respondedAt > Math.max(this.#failedAt, performance.now() - RECENT_MS);
  }

  /** Runs one statement; prepares one with a name once per session, unless a pooler may stand before the server. */
  async sendStatement<Row>(statement: Statement<Row>, values: readonly Value[]) {
    const session = await this.connect();
    try {
      return await session.query(hasParameters(this.#options) ? statement : { text: statement.text }, values);
    } finally {
      session.release();
    }
  }

  /** @throws OverloadedError on overload, Error with a SQLSTATE or the name of a system error as `code` when the server is lost */
  async connect(): Promise<Session> {
    if (this.waiting >= this.#options.poolMax * WAITING_PER_CONNECTION) throw new OverloadedError('pool_queue');
    const requestedAt = performance.now();
    let waitedMs = 0;
    const client = await this.#connect(requestedAt + CONNECTION_WAIT_MS)
      .finally(() => {
        waitedMs = performance.now() - requestedAt;
        this.#waits.add(waitedMs / 1_000);
        recordConnectionWait(waitedMs);
      })
      .catch((error: unknown) => this.#explain(error, requestedAt));
    // No client waits for the sessions of a migration.
    const hasTimeLimits = this.#options.purpose !== 'migrations';
    if (hasTimeLimits && waitedMs > CONNECTION_WAIT_MS) {
      client.release();
      throw new OverloadedError('connection');
    }
    return new Session(client, {
      target: this.#target,
      hasTimeLimits,
      onResponse: () => (this.#respondedAt = performance.now()),
      onLoss: (error, sentAt) => this.#lose(error, sentAt),
      onUnanswered: (statement) => this.#keepPlace(client, statement),
    });
  }

  /** Ends all connections that are not in use, and the others when they are released. */
  async end() {
    this.#ending.abort();
    await this.pool.end();
  }

  /** Where a further connection is refused, by the server or the system, waits for one that is in use: these may suffice. */
  async #connect(deadline: number) {
    for (;;) {
      const isRefused = performance.now() - this.#refusedAt < RECENT_MS;
      if (isRefused && this.#inUse > 0 && this.pool.idleCount === 0) await this.#untilReleased(deadline);
      try {
        const client = await this.pool.connect();
        // A server that fell silent may have been replaced since: its other sessions are closed.
        if (this.#connectedAt.get(client)! > this.#silentAt) return client;
        client.release(true);
      } catch (error) {
        if (isPoolTimeout(error) || this.#inUse + this.pool.idleCount === 0) throw error;
        if (performance.now() - this.#refusedAt > RECENT_MS)
          this.#report(error as Error, 'database connection refused');
        this.#refusedAt = performance.now();
      }
    }
  }

  /** @throws OverloadedError when no other request has released a connection by the deadline */
  async #untilReleased(deadline: number) {
    const { promise, resolve } = Promise.withResolvers<undefined>();
    const wake = () => {
      this.#waiting.delete(wake);
      resolve(undefined);
    };
    this.#waiting.add(wake);
    await withDeadline(deadline, promise, () => new OverloadedError('connection')).finally(wake);
  }

  #lose(error: Error, sentAt: number) {
    if (!isReadOnlyError(error)) this.#countLoss();
    const isSilent = isTimeout(error) && this.#respondedAt < sentAt;
    if (isSilent) this.#silentAt = performance.now();
  }

  #report(error: Error, event: string) {
    const { host = 'default', port = 5_432 } = this.#target;
    this.#options.onConnectionError(error, `${host}:${port}`, event);
  }

  #countLoss() {
    this.lostConnections += 1;
    this.#failedAt = performance.now();
  }

  /**
   * The statement may be running still, as one that waits for a synchronous standby does. Its session counts in the pool until it has
   * ended, so that the server never has more sessions of the service than that.
   */
  #keepPlace(client: pg.PoolClient, statement: Promise<unknown>) {
    const close = () => client.release(true);
    const { signal } = this.#ending;
    void Promise.race([statement, sleep(UNANSWERED_MS, undefined, { signal, ref: false })]).then(close, close);
  }

  async #explain(error: unknown, requestedAt: number): Promise<never> {
    // An event loop that was late reads the responses that have arrived before the timeout.
    await setImmediate();
    // Other statements have got responses since, so the server is only busy.
    if (isPoolTimeout(error) && this.#respondedAt > requestedAt) throw new OverloadedError('connection');
    this.#failedAt = performance.now();
    throw withErrorCode(error);
  }
}
