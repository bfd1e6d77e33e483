/** Maximum time of a request. All other timeouts of requests follow from it. */
export const REQUEST_MS = 3_000;

/** Maximum wait for a connection, new or out of the pool. */
export const CONNECTION_WAIT_MS = REQUEST_MS / 3;

/** PostgreSQL cancels a statement after this time. With the wait for a connection, 0.6 s are left for a busy machine. */
export const STATEMENT_MS = REQUEST_MS - CONNECTION_WAIT_MS - 600;

/**
 * Time in which a server responds, because it cancels a statement before its end. After it, a connection is given up, new or in use; a
 * new one that takes longer than `CONNECTION_WAIT_MS` serves later requests.
 */
export const RESPONSE_MS = STATEMENT_MS + 100;

/** Timeout for all statements of a session. After it, the server is taken for silent. */
export const SESSION_MS = RESPONSE_MS + 300;

/** Maximum time for a shared statement and one of a single request after it, with their waits. */
export const SHARED_MS = REQUEST_MS - 500;

/** Maximum wait of a shared statement for a lock. Its rows are retried one by one after that. */
export const SHARED_LOCK_MS = REQUEST_MS / 6;
