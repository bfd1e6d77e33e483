import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { PostgresPoolClient } from 'kysely';
import pg from 'pg';
import { PreparedQuery, type Result, type Value } from './prepared-query.ts';

/**
 * A server that has not even ended a statement by then is given up, and so is a transaction that is not over. PostgreSQL cancels a
 * statement after 1.4 s, on a busy machine a little later. With the wait for a connection, of 1 s, that makes 2.6 s; a request may
 * take three.
 */
const UNRESPONSIVE_MS = 1_600;

/** An answer that is arriving by then is read to its end, as long as no more than this passes without a piece of it. */
const SILENCE_MS = 250;

/** SQLSTATE query_canceled: `statement_timeout`, or an administrator, has ended the statement. */
export const STATEMENT_TIMED_OUT = '57014';

/** SQLSTATE of a write in a session that began while its database was read-only; a new one may write. */
const READ_ONLY = '25006';

/** SQLSTATE of a prepared statement that is not executed: a migration has changed the type of a column that it reads. */
const PLAN_OUTDATED = '0A000';

/** SQLSTATE invalid_authorization_specification. */
const LOGIN_REFUSED = '28000';

/** SQLSTATEs of statements that are not executed because the session is not the one that they were prepared in. */
const OTHER_SESSION = ['26000', '42P05'];

interface Use {
  timeouts: boolean;
  /** Without them nothing is prepared: behind a pooler, the next statement may meet another session. */
  names: Map<string, string> | undefined;
  onAnswer: () => void;
  /** There was no answer, or a last one. */
  onFailure: () => void;
  /** There is a pooler before the server. */
  onOtherSession: () => void;
}

/**
 * Runs statements on a connection of pg's pool, within their time. When it is released, it goes back to the pool, unless the
 * server has ended it or has not answered on it: what it still sends would answer the wrong query.
 */
export function discardIfBroken(
  client: pg.PoolClient,
  { timeouts, names, onAnswer, onFailure, onOtherSession }: Use,
): PostgresPoolClient {
  let brokenBy: unknown;
  let isOutdated = false;
  // All statements of a transaction together: the request waits for all of them.
  const deadline = performance.now() + UNRESPONSIVE_MS;
  const query = async (text: string, values: unknown[], name = names?.get(text)): Promise<Result> => {
    // A rollback on it would be waited for in vain.
    if (brokenBy) return rethrowWithCode(brokenBy);
    const limitMs = timeouts ? Math.max(1, deadline - performance.now()) : undefined;
    try {
      const result = await run(client, { text, values, name, limitMs });
      onAnswer();
      return result;
    } catch (error) {
      const code = codeOf(error);
      const isOtherSession = OTHER_SESSION.includes(code);
      if (name && (isOtherSession || code === PLAN_OUTDATED)) {
        isOutdated = true;
        if (isOtherSession) onOtherSession();
        return query(text, values, '');
      }
      if (!(error instanceof pg.DatabaseError) || error.severity === 'FATAL' || code === READ_ONLY) {
        brokenBy = error;
        onFailure();
      } else onAnswer();
      return rethrowWithCode(error);
    }
  };
  return {
    query: query as unknown as PostgresPoolClient['query'],
    release: (discard) => client.release(discard || isOutdated || brokenBy !== undefined),
  };
}

interface Statement {
  text: string;
  values: unknown[];
  /** PostgreSQL plans statements that have one only once. */
  name: string | undefined;
  limitMs: number | undefined;
}

/** As `client.query` with an object would, but without the copy that it makes of it, which takes longer than a row. */
const run = (client: pg.PoolClient, { text, values, name, limitMs }: Statement) =>
  new Promise<Result>((resolve, reject) => {
    // Not the driver's own limit, which puts another callback in the place of this one: measured, 2 kB of each statement
    // then survive until a full collection of the heap, where otherwise next to nothing does.
    // What has arrived while the event loop was late, or is arriving, is still read: it is no fault of the server.
    const stream = client.connection.stream as Duplex & Pick<Socket, 'bytesRead'>;
    let look: NodeJS.Immediate | undefined;
    const giveUpUnlessReading = (ms: number): NodeJS.Timeout => {
      const { bytesRead } = stream;
      return setTimeout(() => {
        look = setImmediate(() => {
          if (stream.bytesRead === bytesRead) reject(new Error('Query timeout'));
          else timer = giveUpUnlessReading(SILENCE_MS);
        });
      }, ms);
    };
    let timer = limitMs && giveUpUnlessReading(limitMs);
    const callback = (error: Error | null, result?: Result) => {
      clearTimeout(timer);
      clearImmediate(look);
      if (error) reject(error);
      else resolve(result!);
    };
    client.query(
      name
        ? new PreparedQuery(client, { text, name, values: values as Value[] }, callback)
        : Object.assign(new pg.Query(text, values), { callback }),
    );
  });

/** The SQLSTATE of an error of PostgreSQL's, or the name of a system error; empty if it has neither. */
export const codeOf = (error: unknown) => (error as { code?: string }).code ?? '';

/** Gives errors that are not PostgreSQL's, which have none, the code of what happened: no answer in time, or a lost connection. */
export function rethrowWithCode(error: unknown): never {
  const failure = error as Error & { code?: string };
  failure.code ??= codeFromMessage(failure.message);
  throw failure;
}

function codeFromMessage(message: string) {
  // The login can't go on: mostly, the server asks for a password and there is none, or does not speak TLS.
  if (message.startsWith('SASL') || message.includes('SSL connection')) return LOGIN_REFUSED;
  return message.includes('timeout') ? 'ETIMEDOUT' : 'ECONNRESET';
}
