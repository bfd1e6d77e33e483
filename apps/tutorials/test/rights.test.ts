import { expect, test } from '@jest/globals';
import { createTestDatabase } from '@rest-services/local-postgres';
import { processesOf, sendJson, withRole } from '@rest-services/testing';
import { sql } from 'kysely';

const tutorials = processesOf('dist/main.js', createTestDatabase);

test('Where pg_trgm lies in another schema, the right to create in `public` is enough to migrate and search', () =>
  withRole(tutorials.database, async (db, role, DATABASE_URL) => {
    await sql`create schema extensions`.execute(db);
    await sql`create extension pg_trgm schema extensions`.execute(db);
    await sql`grant usage on schema extensions to ${role}`.execute(db);
    await sql`grant create on schema public to ${role}`.execute(db);
    const url = await tutorials.start({ DATABASE_URL }).listening();
    const tutorial = { title: 'Fastify', description: '', published: false };
    expect((await sendJson(url, 'POST', '/api/tutorials', tutorial)).status).toBe(201);
    const found = await sendJson(url, 'GET', '/api/tutorials?title=FAST');
    expect([found.status, found.body]).toEqual([200, [{ id: 1, ...tutorial }]]);
  }));
