import { afterEach, beforeEach } from '@jest/globals';
import { createTestDatabase, type TestDatabase } from '@rest-services/local-postgres';
import { openTestConnection, sendJson, startProcess, type LogLine } from '@rest-services/testing';
import { sql } from 'kysely';
import { notesMain } from '../notes/bundled.ts';

// For files in which each test starts processes of its own on an empty database.

/** Empty database of the running test. */
export let database: TestDatabase;

const processes: ReturnType<typeof startProcess>[] = [];

beforeEach(async () => {
  database = await createTestDatabase();
});
afterEach(async () => {
  const started = processes.splice(0);
  started.forEach(({ child }) => child.kill('SIGKILL'));
  await Promise.all(started.map(({ ended }) => ended));
  await database.drop();
});

export function startNotes(environment: NodeJS.ProcessEnv, ...args: string[]) {
  const service = startProcess(notesMain(), environment, ...args);
  processes.push(service);
  return service;
}

export async function insertNotes(count: number) {
  const db = openTestConnection(database.url);
  await sql`insert into note (title) select 'Note ' || n from generate_series(1, ${count}) n`.execute(db);
  await db.destroy();
}

export async function createNote(url: string) {
  return (await sendJson(url, 'POST', '/notes', { title: 'a' })).body as { id: number };
}

/** Excludes the log lines of a busy machine, on which it may take too long to connect. */
export const isNotSlow = ({ err }: LogLine) => (err as { code?: string } | undefined)?.code !== 'ETIMEDOUT';
