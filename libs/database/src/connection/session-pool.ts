import { setImmediate } from 'node:timers/promises';
import { overloaded } from '@rest-services/errors';
import { sql } from 'kysely';
import pg from 'pg';
import { Distribution } from '../distribution.ts';
import { errorCode, SQLSTATE } from '../sqlstate.ts';
import { CONNECTION_WAIT_MS, RESPONSE_MS, STATEMENT_MS } from '../time-budget.ts';
import { AbandonedSessions } from './abandoned-sessions.ts';
import { clientConfig, MIGRATION_CONNECT_MS, type ConnectionOptions } from './client-config.ts';
import { isPoolTimeout, isQueueTimeout, isReadOnlyError, isTimeout, withErrorCode } from './errors.ts';
import { parseConnectionUrl, type ConnectionTarget, type Server } from './server/connection-url.ts';
import { isAccepted, ServerClient } from './server/server-client.ts';
import { ServerHealth } from './server/server-health.ts';
import { noServer, ServerSelection } from './server/server-selection.ts';
import { inTime, Session, type Value } from './session.ts';
import { prepared, type Statement } from './statement.ts';
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

/** In seconds: from a free connection to the longest wait of a request, which ends at 1 s, and those of a busy event loop. */
const WAIT_BOUNDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5];

export interface SessionPoolOptions extends ConnectionOptions {
  /** Maximum number of connections. */
  poolMax: number;
  /** A connection was lost that no request was waiting for. */
  onConnectionError: (error: Error, server: Server) => void;
  /** Another server of `url` is used from now on. */
  onServerSelected?: (server: Server, previous: Server | undefined) => void;
  /** Writes are refused from now on, or no longer, because many sessions wait in the database. */
  onWritesRefused?: (areRefused: boolean) => void;
  /** Takes the waits for a connection of this pool, too. */
  waits?: Distribution;
}

/** The pool makes its clients by its option `Client`, which its types do not know. */
type PooledClient = ServerClient & pg.PoolClient;

/** Whether a statement of this role has been running for longer than its timeout. Sessions of a role see each other's states. */
const ANY_RUNNING = prepared<{ isAny: boolean }>(sql`
  select exists (
    select from pg_stat_activity
    where datname = current_database() and usename = current_user and state = 'active' and pid <> pg_backend_pid()
      and query_start < clock_timestamp() - interval '${sql.raw(String(STATEMENT_MS))} ms'
  ) as "isAny"`);

/** Sessions with time limits on a selected server, out of a pool of connections. */
export class SessionPool {
  readonly pool: pg.Pool;
  /** Seconds that each statement or transaction has waited for its connection, whether it got one or not. */
  readonly waits: Distribution;
  readonly health = new ServerHealth();
  readonly abandoned: AbandonedSessions;
  readonly #servers: ServerSelection;
  readonly #target: ConnectionTarget;
  readonly #connectMs: number;
  readonly #readsPassword: boolean;
  readonly #hasTimeouts: boolean;
  readonly #isPrepared: boolean;
  readonly #maxWaiting: number;

  constructor(options: SessionPoolOptions) {
    const { url, readPassword, pooler, poolMax, onConnectionError, hasTimeouts = true } = options;
    const { onServerSelected, onWritesRefused = () => undefined } = options;
    const target = parseConnectionUrl(url);
    const config = clientConfig(target, options);
    const isBehindPooler = pooler !== undefined;
    this.waits = options.waits ?? new Distribution(WAIT_BOUNDS);
    this.#target = target;
    this.#connectMs = config.connectionTimeoutMillis;
    this.#readsPassword = readPassword !== undefined;
    this.#hasTimeouts = hasTimeouts;
    this.#isPrepared = pooler !== 'transaction';
    this.#maxWaiting = poolMax * WAITING_PER_CONNECTION;

    const servers = new ServerSelection({
      target,
      onSelected: (server, previous) => {
        this.abandoned.closeAll();
        onServerSelected?.(server, previous);
      },
      probe: async (server) => {
        const client = new ServerClient(config, server, { isBehindPooler });
        client.on('error', () => undefined);
        try {
          await client.connect();
          return await inTime(client.readState(), this.#connectMs);
        } finally {
          void client.end().catch(() => undefined);
        }
      },
    });
    this.#servers = servers;
    this.abandoned = new AbandonedSessions({
      max: Math.floor(poolMax / 2),
      isAnyRunning: async () => (await this.sendStatement(ANY_RUNNING, [])).rows[0]!.isAny,
      onRefusal: onWritesRefused,
    });
    this.pool = new pg.Pool({
      Client: class extends ServerClient {
        constructor() {
          super(config, servers.server, { selection: servers.number, isBehindPooler });
        }
      },
      max: poolMax,
      connectionTimeoutMillis: hasTimeouts ? RESPONSE_MS : MIGRATION_CONNECT_MS,
      idleTimeoutMillis: IDLE_MS,
      maxLifetimeSeconds: MAX_LIFETIME_SECONDS,
    });
    // Without a listener, a client that is in use when the server goes away ends the process. The pool reports idle ones once more.
    this.pool.on('connect', (client) =>
      client.on('error', (error) => {
        const { server, selection } = client as PooledClient;
        this.#lose(selection);
        onConnectionError(error, server);
      }),
    );
    this.pool.on('error', () => undefined);
  }

  get server() {
    return this.#servers.server;
  }

  /** Runs one statement; prepares one with a name once per session, unless a pooler forgets prepared statements. */
  async sendStatement<Row>(statement: Statement<Row>, values: readonly Value[]) {
    const session = await this.connect();
    try {
      return await session.query(this.#isPrepared ? statement : { text: statement.text }, values);
    } finally {
      session.release();
    }
  }

  /** As `sendStatement`, for a statement that waits for a commit. @throws OverloadedError while many sessions wait in the database */
  async sendWrite<Row>(statement: Statement<Row>, values: readonly Value[]) {
    this.refuseWrites();
    return this.sendStatement(statement, values);
  }

  /** @throws OverloadedError while many sessions wait in the database */
  refuseWrites() {
    if (this.abandoned.refusesWrites) throw overloaded('abandoned_sessions');
  }

  /** @throws OverloadedError on overload, Error with a SQLSTATE or the name of a system error as `code` when the server is lost */
  async connect(): Promise<Session> {
    if (this.pool.waitingCount >= this.#maxWaiting) throw overloaded('pool_queue');
    const requestedAt = performance.now();
    let waitedMs = 0;
    const client = await this.#connect()
      .finally(() => {
        waitedMs = performance.now() - requestedAt;
        this.waits.add(waitedMs / 1_000);
        recordConnectionWait(waitedMs);
      })
      .catch((error: unknown) => this.#explain(error, requestedAt));
    if (this.#hasTimeouts && waitedMs > CONNECTION_WAIT_MS) {
      client.release();
      throw overloaded('connection');
    }
    return new Session(client, {
      target: client,
      hasTimeout: this.#hasTimeouts,
      isCurrent: () => client.selection === this.#servers.number,
      onResponse: () => this.health.responded(client.state),
      onLoss: (error, sentAt) => {
        if (isReadOnlyError(error)) {
          this.health.isReadOnly = true;
          this.#servers.refuseWrite(client.selection);
        } else if (!isTimeout(error)) this.#lose(client.selection);
        // A server that has responded to other sessions since is only slow.
        else if (this.health.hasRespondedSince(sentAt)) this.health.isReachable = false;
        else this.#lose(client.selection, { isUnreachable: true });
      },
      onAbandoned: (statement, close) => {
        if (client.server === this.#servers.server) this.abandoned.hold({ statement, close });
        else close();
      },
    });
  }

  async end() {
    this.abandoned.closeAll();
    await this.pool.end();
  }

  /** A second attempt is for another server, or for the password of now. */
  async #connect() {
    const wasSelected = this.#servers.isCurrent;
    const { number } = this.#servers;
    try {
      return await this.#connectOnce();
    } catch (error) {
      const isRefused = this.#readsPassword && errorCode(error) === SQLSTATE.INVALID_PASSWORD;
      const hasLostServer = this.#servers.hasAlternatives && wasSelected && !isQueueTimeout(error);
      if (!isRefused && !hasLostServer) throw error;
      if (hasLostServer) this.#servers.lose(number, { isUnreachable: isPoolTimeout(error) });
      return this.#connectOnce();
    }
  }

  /** Sessions of an earlier selection are closed. */
  async #connectOnce() {
    if (!this.#servers.isCurrent) await this.#servers.select();
    for (;;) {
      const client = (await this.pool.connect()) as PooledClient;
      if (client.selection !== this.#servers.number) {
        client.release(true);
        continue;
      }
      if (client.hasRecentState) return client;
      try {
        await this.#check(client);
        return client;
      } catch (error) {
        client.release(true);
        throw error;
      }
    }
  }

  /** @throws Error when the server has changed its role since it was selected */
  async #check(client: ServerClient) {
    const state = await inTime(client.readState(), this.#connectMs);
    if (!this.#hasTimeouts) await inTime(client.endTransactionTimeout(), this.#connectMs);
    if (!isAccepted(state, this.#target.targetSessionAttributes)) throw noServer(this.#target);
  }

  #lose(selection: number, { isUnreachable = false } = {}) {
    this.health.lostConnection();
    this.#servers.lose(selection, { isUnreachable });
  }

  async #explain(error: unknown, requestedAt: number): Promise<never> {
    // An event loop that was late reads the responses that have arrived before the timeout.
    await setImmediate();
    // Other statements have got responses since, so the server is only busy.
    if (isPoolTimeout(error) && this.health.hasRespondedSince(requestedAt)) throw overloaded('connection');
    if (isReadOnlyError(error)) this.health.isReadOnly = true;
    this.health.isReachable = false;
    throw withErrorCode(error);
  }
}
