import type pg from 'pg';
import { CONNECTION_WAIT_MS, REQUEST_MS, RESPONSE_MS, STATEMENT_MS } from '../time-budget.ts';
import { resultTypes } from './result-types.ts';
import type { ConnectionTarget } from './server/connection-url.ts';

/** A pooler in transaction mode between service and server: `prepared-transaction` keeps prepared statements, as PgBouncer since 1.21. */
export type Pooler = 'transaction' | 'prepared-transaction';

/** How a session begins. */
export interface ConnectionOptions {
  url: string;
  /** Reads the password for each new connection, instead of the one in `url`; once more when the server refuses it. */
  readPassword?: () => Promise<string>;
  /** Name that PostgreSQL shows for the sessions, unless `url` or PGAPPNAME has one. */
  applicationName?: string | undefined;
  /** A pooler refuses session parameters, so that statements have no timeout of PostgreSQL. */
  pooler?: Pooler | undefined;
  /** `false` for migrations. */
  hasTimeouts?: boolean;
}

/** Timeout for a connection of a migration, which no client waits for. */
export const MIGRATION_CONNECT_MS = 10_000;

/** A session of a migration without this value did not get its parameters, because a pooler ignored them. */
export const MIGRATION_IDLE_TIMEOUT = '10s';

/**
 * Parameters that no default of a server, database or role may change. PostgreSQL checks every second whether the client of a running
 * statement is still connected, and notices one that was cut off by the network after a minute.
 */
const COMMON = String.raw`-c TimeZone=UTC -c DateStyle=ISO -c default_transaction_isolation=read\ committed -c client_connection_check_interval=1s -c tcp_keepalives_idle=30 -c tcp_keepalives_interval=10 -c tcp_keepalives_count=3`;

/**
 * Statements of requests have an index and take milliseconds: a plan made while a table was empty would scan it when it has grown, and one for
 * given values costs more than reading ten rows. A server that closed idle sessions would close one that a request is about to use.
 */
const FOR_REQUESTS = `-c enable_seqscan=off -c jit=off -c plan_cache_mode=force_generic_plan -c idle_in_transaction_session_timeout=${REQUEST_MS} -c idle_session_timeout=0`;

/** A migration holds its lock outside its transaction, too. */
const FOR_MIGRATIONS = `-c idle_in_transaction_session_timeout=10s -c idle_session_timeout=${MIGRATION_IDLE_TIMEOUT} -c statement_timeout=0 -c lock_timeout=0`;

/** Options of the driver for the sessions of a pool. */
export function clientConfig(target: ConnectionTarget, options: ConnectionOptions) {
  const { readPassword, applicationName, pooler, hasTimeouts = true } = options;
  const given = target.config;
  return {
    fallback_application_name: applicationName,
    ...given,
    ...(readPassword && given.password ? { password: readPassword } : {}),
    ...(pooler ? {} : { options: `${given.options ?? ''} ${COMMON} ${hasTimeouts ? FOR_REQUESTS : FOR_MIGRATIONS}` }),
    ...(!pooler && hasTimeouts ? { statement_timeout: STATEMENT_MS } : {}),
    connectionTimeoutMillis: connectTimeout(target, hasTimeouts),
    keepAlive: true,
    // A session without timeout notices a vanished server 10 s later.
    keepAliveInitialDelayMillis: 30_000,
    types: resultTypes(),
  } satisfies pg.ClientConfig;
}

/** Servers one after another, and a session on the one that is found, take no longer than a request may wait for a connection. */
function connectTimeout({ servers, connectTimeoutMs = Infinity }: ConnectionTarget, hasTimeouts: boolean) {
  const [ms, waitMs] = hasTimeouts ? [RESPONSE_MS, CONNECTION_WAIT_MS] : [MIGRATION_CONNECT_MS, MIGRATION_CONNECT_MS];
  return Math.min(servers.length === 1 ? ms : waitMs / (servers.length + 1), connectTimeoutMs);
}
