import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import startPostgres from '@rest-services/local-postgres/jest-setup';
import { bundle } from '../../bundle.ts';

/** Once per test run: the server of the test databases, and the bundle of the notes service. */
export default async function setUp() {
  await startPostgres();
  const folder = await mkdtemp(join(tmpdir(), 'notes-'));
  await bundle(join(import.meta.dirname, 'main.ts'), folder, '1.2.3');
  process.env.NOTES_MAIN = join(folder, 'main.js');
}
