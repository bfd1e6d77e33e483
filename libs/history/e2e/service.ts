import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createTestDatabase } from '@rest-services/local-postgres';
import { startProcess } from '@rest-services/testing';
import pg from 'pg';

const DIST = join(import.meta.dirname, '../../../apps/items/dist');

/** An error: a text of the bundle, or of a function of the database, in place of another one. */
export interface Plant {
  /** A function of the database; the bundle without it. */
  in?: 'item_count_fold' | 'item_id_at';
  text: string | RegExp;
  by: string;
}

function plantIn(source: string, { text, by }: Plant) {
  const planted = source.replaceAll(text, by);
  if (planted === source) throw new Error(`Nothing matches ${String(text)}`);
  return planted;
}

async function plantInFunction(databaseUrl: string, plant: Plant) {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  const definition = 'select pg_get_functiondef($1::regproc) as source';
  const { rows } = await client.query<{ source: string }>(definition, [plant.in]);
  await client.query(plantIn(rows[0]!.source, plant));
  await client.end();
}

/** Runs the items service with an error on a database of its own while `use` runs. */
export async function withService<Result>(
  use: (url: string, databaseUrl: string) => Promise<Result>,
  plant?: Plant,
): Promise<Result> {
  const folder = await mkdtemp(join(tmpdir(), 'planted-'));
  await cp(DIST, folder, { recursive: true });
  const main = join(folder, 'main.js');
  if (plant && !plant.in) await writeFile(main, plantIn(await readFile(main, 'utf8'), plant));
  const database = await createTestDatabase();
  const service = startProcess(main, { DATABASE_URL: database.url });
  try {
    const url = await service.listening();
    if (plant?.in) await plantInFunction(database.url, plant);
    return await use(url, database.url);
  } finally {
    service.child.kill('SIGKILL');
    await service.ended;
    await database.drop();
    await rm(folder, { recursive: true });
  }
}
