import type { Cluster } from '@rest-services/local-postgres';
import { sql } from 'kysely';
import { patientDatabase } from './patient-database.ts';

/**
 * Stops every process of a database server in the middle of what it does: connections are accepted by the kernel, and
 * nothing is ever said on them.
 * @returns what lets the server go on; a second call does nothing
 */
export async function hang({ url, pid }: Cluster): Promise<() => void> {
  const db = patientDatabase(url);
  const stopped: number[] = [];
  const stop = (each: number) => {
    if (signal(each, 'SIGSTOP')) stopped.push(each);
  };
  await db.connection().execute(async (connection) => {
    // First the one who starts the others.
    await sql`select 1`.execute(connection);
    stop(pid);
    const { rows } = await sql<{ pid: number }>`select pid from pg_stat_activity
      where pid <> pg_backend_pid()`.execute(connection);
    rows.forEach((row) => stop(row.pid));
  });
  await db.destroy();
  return () => stopped.splice(0).forEach((each) => signal(each, 'SIGCONT'));
}

/** @returns whether there is such a process: a worker may have ended since */
function signal(pid: number, name: NodeJS.Signals) {
  try {
    return process.kill(pid, name);
  } catch {
    return false;
  }
}
