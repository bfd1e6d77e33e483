import { rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import stopPostgres from '@rest-services/local-postgres/jest-teardown';
import { notesMain } from './bundled.ts';

export default async function tearDown() {
  await rm(dirname(notesMain()), { recursive: true });
  await stopPostgres();
}
