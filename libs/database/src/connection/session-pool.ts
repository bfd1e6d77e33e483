import { setImmediate as endOfTurn } from 'node:timers/promises';
import { overloaded } from '@rest-services/errors';
import pg from 'pg';
import { Distribution } from '../distribution.ts';
import { errorCode, SQLSTATE } from '../sqlstate.ts';
import { CONNECT_MS, CONNECTION_WAIT_MS, STATEMENT_MS } from '../time-budget.ts';
import { isPoolTimeout, isQueueTimeout, isReadOnlyError, isTimeout, withErrorCode } from './errors.ts';
import { resultTypes } from './result-types.ts';
import { parseConnectionUrl, type ConnectionTarget, type Server } from './server/connection-url.ts';
import { isAccepted, ServerClient, type ServerState } from './server/server-client.ts';
import { noServer, ServerSelection } from './server/server-selection.ts';
import { MIGRATION_PARAMETERS, REQUEST_PARAMETERS } from './session-parameters.ts';
import { inTime, Session, type Value } from './session.ts';
import { recordConnectionWait } from './statement-spans.ts';

/** Timeout for a connection of a migration, which no client waits for. */
const MIGRATION_CONNECT_MS = 10_000;

/**
 * An idle connection is closed after this time. A new one is slow at first: when all are new, 64 clients get half as many responses in
 * the first half second.
 */
const IDLE_MS = 300_000;

/** Maximum age of a connection. Otherwise, after a switch-over that closes no session, reads go on at the old primary. */
const MAX_LIFETIME_SECONDS = 600;

/** A vanished server is noticed by a session without timeout 10 s after this time. */
const KEEP_ALIVE_MS = 30_000;

/** Maximum number of requests that wait, per connection. More would wait longer than `CONNECTION_WAIT_MS`. */
const WAITING_PER_CONNECTION = 100;

/** In seconds: from a free connection to the longest wait of a request, which ends at 1 s, and those of a busy event loop. */
const WAIT_BOUNDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5];

/** Age of a response that still shows that the server can be reached. */
const RECENT_MS = 1_000;

/** A pooler in transaction mode between service and server: `prepared-transaction` keeps prepared statements, as PgBouncer since 1.21. */
export type Pooler = 'transaction' | 'prepared-transaction';

export interface SessionPoolOptions {
  url: string;
  /** Reads the password for each new connection, instead of the one in `url`; once more when the server refuses it. */
  readPassword?: () => Promise<string>;
  /** Name that PostgreSQL shows for the sessions, unless `url` or PGAPPNAME has one. */
  applicationName?: string | undefined;
  /** A pooler refuses session parameters, so that statements have no timeout of PostgreSQL. */
  pooler?: Pooler | undefined;
  /** Maximum number of connections. */
  poolMax: number;
  /** A connection was lost that no request was waiting for. */
  onConnectionError: (error: Error, server: Server) => void;
  /** Another server of `url` is used from now on. */
  onServerSelected?: (server: Server, previous: Server | undefined) => void;
  /** `false` for migrations. */
  hasTimeouts?: boolean;
  /** Takes the waits for a connection of this pool, too. */
  waits?: Distribution;
}

/** The pool makes its clients by its option `Client`. */
function pooledClient(client: pg.PoolClient): ServerClient & pg.PoolClient {
  if (client instanceof ServerClient) return client;
  throw new TypeError('The client is not from this pool');
}

/** Sessions with time limits on a selected server, out of a pool of connections. */
export class SessionPool {
  readonly pool: pg.Pool;
  /** Seconds that each statement or transaction has waited for its connection, whether it got one or not. */
  readonly waits: Distribution;
  readonly #servers: ServerSelection;
  readonly #target: ConnectionTarget;
  readonly #readsPassword: boolean;
  readonly #hasTimeouts: boolean;
  readonly #isPrepared: boolean;
  readonly #maxWaiting: number;
  #respondedAt = -Infinity;
  #isLost = false;
  #isReadOnly = false;
  #lostConnections = 0;

  constructor(options: SessionPoolOptions) {
    const { url, readPassword, pooler, poolMax, onConnectionError, onServerSelected, hasTimeouts = true } = options;
    const target = parseConnectionUrl(url);
    const connectMs = connectTimeout(target, hasTimeouts);
    const config = { ...clientConfig(target.config, options), connectionTimeoutMillis: connectMs };
    const isBehindPooler = pooler !== undefined;
    this.waits = options.waits ?? new Distribution(WAIT_BOUNDS);
    this.#target = target;
    this.#readsPassword = readPassword !== undefined;
    this.#hasTimeouts = hasTimeouts;
    this.#isPrepared = pooler !== 'transaction';
    this.#maxWaiting = poolMax * WAITING_PER_CONNECTION;

    const servers = new ServerSelection({
      target,
      onSelected: onServerSelected,
      probe: async (server) => {
        const client = new ServerClient(config, server, { isBehindPooler });
        client.on('error', () => undefined);
        try {
          await client.connect();
          return await inTime(client.readState(), connectMs);
        } finally {
          void client.end().catch(() => undefined);
        }
      },
    });
    this.#servers = servers;
    this.pool = new pg.Pool({
      Client: class extends ServerClient {
        constructor() {
          super(config, servers.server, { selection: servers.number, isBehindPooler });
        }
      },
      verify: (client, done) => void this.#check(pooledClient(client), connectMs).then(() => done(), done),
      max: poolMax,
      connectionTimeoutMillis: hasTimeouts ? CONNECT_MS : MIGRATION_CONNECT_MS,
      idleTimeoutMillis: IDLE_MS,
      maxLifetimeSeconds: MAX_LIFETIME_SECONDS,
    });
    // Without a listener, a client that is in use when the server goes away ends the process. The pool reports idle ones once more.
    this.pool.on('connect', (client) =>
      client.on('error', (error) => {
        const { server, selection } = pooledClient(client);
        this.#lose(selection);
        onConnectionError(error, server);
      }),
    );
    this.pool.on('error', () => undefined);
  }

  /** Whether a server that takes writes has responded in the last second, and has not been lost since. */
  get isResponding() {
    return !this.#isLost && !this.#isReadOnly && performance.now() - this.#respondedAt < RECENT_MS;
  }

  /** Whether the last server that responded takes no writes, or no server that responds is one that does. */
  get isReadOnly() {
    return this.#isReadOnly;
  }

  get server() {
    return this.#servers.server;
  }

  /** Number of connections that the server has ended, or on which it did not respond. */
  get lostConnections() {
    return this.#lostConnections;
  }

  /** Whether no connection has been lost since the last response. */
  get isReachable() {
    return !this.#isLost;
  }

  /** Runs one statement. @param name prepares it once per session, unless a pooler forgets prepared statements */
  async query<Row>(text: string, values: readonly Value[], name?: string) {
    const session = await this.connect();
    try {
      return await session.query<Row>(text, values, this.#isPrepared ? name : undefined);
    } finally {
      session.release();
    }
  }

  /** @throws OverloadedError on overload, Error with a SQLSTATE or the name of a system error as `code` when the server is lost */
  async connect(): Promise<Session> {
    if (this.pool.waitingCount >= this.#maxWaiting) throw overloaded('pool_queue');
    const requestedAt = performance.now();
    const client = await this.#connect().catch((error: unknown) => this.#explain(error, requestedAt));
    const waitedMs = performance.now() - requestedAt;
    this.waits.add(waitedMs / 1_000);
    recordConnectionWait(waitedMs);
    if (this.#hasTimeouts && waitedMs > CONNECTION_WAIT_MS) {
      client.release();
      throw overloaded('connection');
    }
    return new Session(client, {
      target: client,
      hasTimeout: this.#hasTimeouts,
      isCurrent: () => client.selection === this.#servers.number,
      onResponse: () => {
        this.#respondedAt = performance.now();
        this.#isLost = false;
        this.#isReadOnly = client.state?.isReadOnly ?? false;
      },
      onLoss: (error, sentAt) => {
        if (isReadOnlyError(error)) this.#isReadOnly = true;
        // A server that has responded to other sessions since is only slow.
        const isSilent = isTimeout(error);
        if (isSilent && this.#respondedAt > sentAt) this.#isLost = true;
        else this.#lose(client.selection, { isUnreachable: isSilent });
      },
    });
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
      const client = pooledClient(await this.pool.connect());
      if (client.selection === this.#servers.number) return client;
      client.release(true);
    }
  }

  /** @throws Error when the server has changed its role since it was selected */
  async #check(client: ServerClient, timeoutMs: number) {
    const state: ServerState = await inTime(client.readState(), timeoutMs);
    if (!isAccepted(state, this.#target.targetSessionAttributes)) throw noServer(this.#target);
  }

  #lose(selection: number, { isUnreachable = false } = {}) {
    this.#isLost = true;
    this.#lostConnections++;
    this.#servers.lose(selection, { isUnreachable });
  }

  async #explain(error: unknown, requestedAt: number): Promise<never> {
    const waitedMs = performance.now() - requestedAt;
    this.waits.add(waitedMs / 1_000);
    recordConnectionWait(waitedMs);
    // An event loop that was late reads the responses that have arrived before the timeout.
    await endOfTurn();
    // Other statements have got responses since, so the server is only busy.
    if (isPoolTimeout(error) && this.#respondedAt > requestedAt) throw overloaded('connection');
    if (isReadOnlyError(error)) this.#isReadOnly = true;
    this.#isLost = true;
    throw withErrorCode(error);
  }
}

/** Servers in turn, and a session on the one that is found, take no longer than a request may wait for a connection. */
function connectTimeout({ servers, connectTimeoutMs = Infinity }: ConnectionTarget, hasTimeouts: boolean) {
  const ms = hasTimeouts ? CONNECT_MS : MIGRATION_CONNECT_MS;
  if (servers.length === 1) return Math.min(ms, connectTimeoutMs);
  const waitMs = hasTimeouts ? CONNECTION_WAIT_MS : MIGRATION_CONNECT_MS;
  return Math.min(waitMs / (servers.length + 1), connectTimeoutMs);
}

function clientConfig(given: pg.ClientConfig, options: SessionPoolOptions): pg.ClientConfig {
  const { readPassword, applicationName, pooler, hasTimeouts = true } = options;
  const parameters = hasTimeouts ? REQUEST_PARAMETERS : MIGRATION_PARAMETERS;
  return {
    fallback_application_name: applicationName,
    ...given,
    ...(readPassword && given.password ? { password: readPassword } : {}),
    ...(pooler ? {} : { options: `${given.options ?? ''} ${parameters}` }),
    ...(!pooler && hasTimeouts ? { statement_timeout: STATEMENT_MS } : {}),
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
    types: resultTypes(),
  };
}
