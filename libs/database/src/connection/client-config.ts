import type pg from 'pg';
import { CONNECT_MS, CONNECTION_WAIT_MS, STATEMENT_MS } from '../time-budget.ts';
import { resultTypes } from './result-types.ts';
import type { ConnectionTarget } from './server/connection-url.ts';
import { MIGRATION_PARAMETERS, REQUEST_PARAMETERS } from './session-parameters.ts';

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

/** A vanished server is noticed by a session without timeout 10 s after this time. */
const KEEP_ALIVE_MS = 30_000;

/** Options of the driver for the sessions of a pool. */
export function clientConfig(target: ConnectionTarget, options: ConnectionOptions) {
  const { readPassword, applicationName, pooler, hasTimeouts = true } = options;
  const parameters = hasTimeouts ? REQUEST_PARAMETERS : MIGRATION_PARAMETERS;
  const given = target.config;
  return {
    fallback_application_name: applicationName,
    ...given,
    ...(readPassword && given.password ? { password: readPassword } : {}),
    ...(pooler ? {} : { options: `${given.options ?? ''} ${parameters}` }),
    ...(!pooler && hasTimeouts ? { statement_timeout: STATEMENT_MS } : {}),
    connectionTimeoutMillis: connectTimeout(target, hasTimeouts),
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
    types: resultTypes(),
  } satisfies pg.ClientConfig;
}

/** Servers in turn, and a session on the one that is found, take no longer than a request may wait for a connection. */
function connectTimeout({ servers, connectTimeoutMs = Infinity }: ConnectionTarget, hasTimeouts: boolean) {
  const ms = hasTimeouts ? CONNECT_MS : MIGRATION_CONNECT_MS;
  if (servers.length === 1) return Math.min(ms, connectTimeoutMs);
  const waitMs = hasTimeouts ? CONNECTION_WAIT_MS : MIGRATION_CONNECT_MS;
  return Math.min(waitMs / (servers.length + 1), connectTimeoutMs);
}
