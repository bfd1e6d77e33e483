import { REQUEST_MS } from '../time-budget.ts';

/**
 * Parameters that no default of a server, database or role may change. PostgreSQL checks every second whether the client of a running
 * statement is still connected. Otherwise the session of a migration without one would keep its lock.
 */
const COMMON = String.raw`-c TimeZone=UTC -c DateStyle=ISO -c default_transaction_isolation=read\ committed -c client_connection_check_interval=1s`;

/** PostgreSQL notices a client that was cut off by the network after 30 s, and ends its session 30 s later. */
const KEEP_ALIVE = '-c tcp_keepalives_idle=30 -c tcp_keepalives_interval=10 -c tcp_keepalives_count=3';

/**
 * Every statement of a request has an index and is short. A plan made while a table was empty would scan it, and a prepared statement
 * keeps such a plan while the table grows. A plan for given values costs more than reading ten rows.
 */
const PLANS = '-c enable_seqscan=off -c jit=off -c plan_cache_mode=force_generic_plan';

/**
 * A transaction whose service is frozen frees its locks after the time of a request. The pool closes idle sessions; a server that did
 * would close one that a request is about to use.
 */
export const REQUEST_PARAMETERS = `${COMMON} ${KEEP_ALIVE} -c idle_in_transaction_session_timeout=${REQUEST_MS} -c idle_session_timeout=0 ${PLANS}`;

/** A session of a migration without this value did not get the parameters below, because a pooler ignored them. */
export const MIGRATION_IDLE_TIMEOUT = '10s';

/** A migration holds its lock outside its transaction, too, for a moment. */
export const MIGRATION_PARAMETERS = `${COMMON} ${KEEP_ALIVE} -c idle_in_transaction_session_timeout=10s -c idle_session_timeout=${MIGRATION_IDLE_TIMEOUT} -c statement_timeout=0 -c lock_timeout=0`;
