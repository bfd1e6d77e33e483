import type pg from 'pg';
import { REQUEST_MS, RESPONSE_MS, STATEMENT_MS } from '../time-budget.ts';
import { resultTypes } from './result-types.ts';

/** A pooler between service and server that gives a session to a client for one transaction. */
type Pooler = 'transaction';

/**
 * What sessions are for. Those for requests and migrations begin with parameters, which a pooler or an old server refuses; those for
 * checks work with any.
 */
export type SessionPurpose = 'requests' | 'migrations' | 'checks';

/** How a session begins. */
export interface ConnectionOptions {
  url: string;
  /** Reads the password for each new connection, instead of the one in `url`. */
  readPassword?: (() => Promise<string>) | undefined;
  /** Name that PostgreSQL shows for the sessions, unless `url` has one. */
  applicationName?: string | undefined;
  pooler?: Pooler | undefined;
  /** `requests` by default. */
  purpose?: SessionPurpose;
}

/** Whether sessions have parameters of their own, and keep prepared statements. */
export const hasParameters = ({ pooler, purpose }: Pick<ConnectionOptions, 'pooler' | 'purpose'>) =>
  pooler === undefined && purpose !== 'checks';

/** Timeout for a connection of a migration. */
const MIGRATION_CONNECT_MS = 10_000;

/** A session of a migration without this value did not get its parameters, because a pooler ignored them. */
export const MIGRATION_IDLE_TIMEOUT = '10s';

/**
 * Parameters that no default of a server, database or role may change. PostgreSQL checks every second whether the client of a running
 * statement is still connected, and notices one that was cut off by the network after a minute.
 */
const COMMON = String.raw`-c TimeZone=UTC -c DateStyle=ISO -c array_nulls=on -c default_transaction_isolation=read\ committed -c client_connection_check_interval=1s -c tcp_keepalives_idle=30 -c tcp_keepalives_interval=10 -c tcp_keepalives_count=3`;

/**
 * Statements of requests have an index and take milliseconds: a plan made while a table was empty would scan it when it has grown, and one for
 * given values costs more than reading ten rows. A server that closed idle sessions would close one that a request is about to use.
 */
const FOR_REQUESTS = `${COMMON} -c statement_timeout=${STATEMENT_MS} -c enable_seqscan=off -c jit=off -c plan_cache_mode=force_generic_plan -c idle_in_transaction_session_timeout=${REQUEST_MS} -c idle_session_timeout=0`;

/** A migration holds its lock outside its transaction, too. */
const FOR_MIGRATIONS = `${COMMON} -c idle_in_transaction_session_timeout=10s -c idle_session_timeout=${MIGRATION_IDLE_TIMEOUT} -c statement_timeout=0 -c lock_timeout=0`;

/** Options of the driver for the sessions of a pool. */
export function clientConfig(target: pg.ClientConfig, options: ConnectionOptions) {
  const { readPassword, applicationName, purpose = 'requests' } = options;
  const isForMigrations = purpose === 'migrations';
  const parameters = isForMigrations ? FOR_MIGRATIONS : FOR_REQUESTS;
  return {
    fallback_application_name: applicationName,
    ...target,
    ...(readPassword && target.password ? { password: readPassword } : {}),
    ...(hasParameters(options) ? { options: `${target.options ?? ''} ${parameters}` } : {}),
    connectionTimeoutMillis: Math.min(
      isForMigrations ? MIGRATION_CONNECT_MS : RESPONSE_MS,
      target.connectionTimeoutMillis ?? Infinity,
    ),
    keepAlive: true,
    // A session without timeout notices a vanished server 10 s later.
    keepAliveInitialDelayMillis: 30_000,
    types: resultTypes(),
  } satisfies pg.PoolConfig;
}
