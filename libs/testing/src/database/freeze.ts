import type { Cluster } from '@rest-services/local-postgres';
import { sql } from 'kysely';
import { openTestConnection } from './open-test-connection.ts';

/**
 * Stops all processes of a database server. The kernel still accepts connections, on which nothing is sent.
 * @returns a function that lets the server continue; a second call does nothing
 */
export async function freeze({ url, pid }: Cluster): Promise<() => void> {
  const db = openTestConnection(url);
  const stopped: number[] = [];
  const stop = (each: number) => {
    if (signal(each, 'SIGSTOP')) stopped.push(each);
  };
  await db.connection().execute(async (connection) => {
    // First the postmaster, because it starts the other processes.
    await sql`select 1`.execute(connection);
    stop(pid);
    const { rows } = await sql<{ pid: number }>`select pid from pg_stat_activity
      where pid <> pg_backend_pid()`.execute(connection);
    rows.forEach((row) => stop(row.pid));
  });
  await db.destroy();
  return () => stopped.splice(0).forEach((each) => signal(each, 'SIGCONT'));
}

/** @returns whether the process exists: a worker may have ended since */
function signal(pid: number, name: NodeJS.Signals) {
  try {
    return process.kill(pid, name);
  } catch {
    return false;
  }
}
