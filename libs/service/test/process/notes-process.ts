import { expect } from '@jest/globals';
import { processesOf, sendJson, type LogLine } from '@rest-services/testing';
import { sql } from 'kysely';
import { notesMain } from '../notes/bundled.ts';

export const notes = processesOf(notesMain());

/** Starts the service. @returns it with its base URL when it listens */
export async function startListening(environment: NodeJS.ProcessEnv = {}) {
  const service = notes.start(environment);
  return { ...service, url: await service.listening() };
}

export const insertNotes = (count: number, db = notes.db) =>
  sql`insert into note (title) select 'Note ' || n from generate_series(1, ${count}) n`.execute(db);

export async function createNote(url: string) {
  const { status, body } = await sendJson(url, 'POST', '/notes', { title: 'a' });
  expect([status, body]).toEqual([201, { id: expect.any(Number) }]);
  return body as { id: number };
}

/** Excludes the log lines of a busy machine, on which it may take too long to connect. */
export const isNotSlow = ({ err }: LogLine) => (err as { code?: string } | undefined)?.code !== 'ETIMEDOUT';
