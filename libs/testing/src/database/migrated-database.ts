import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createPreparedDatabase } from '@rest-services/local-postgres';

/**
 * Creates a database that a service has brought up to date.
 * @param main path of its bundle
 */
export function createMigratedDatabase(main: string) {
  const key = createHash('sha256').update(readFileSync(main)).digest('hex').slice(0, 16);
  return createPreparedDatabase(key, (DATABASE_URL) => {
    execFileSync(process.execPath, [main, 'migrate'], { env: { DATABASE_URL }, stdio: 'pipe' });
  });
}
