import { afterEach, beforeEach } from '@jest/globals';
import { createTestDatabase, type TestDatabase } from '@rest-services/local-postgres';
import { startProcess } from './process.ts';

/**
 * For a file or `describe` whose tests start processes: gives each test an empty database, and kills its processes at its end.
 * @param main path of the bundle
 */
export function processesOf(main: string) {
  let database: TestDatabase;
  const started: ReturnType<typeof startProcess>[] = [];
  beforeEach(async () => {
    database = await createTestDatabase();
  });
  afterEach(async () => {
    started.forEach(({ child }) => child.kill('SIGKILL'));
    await Promise.all(started.splice(0).map(({ ended }) => ended));
    await database.drop();
  });

  return {
    /** Database of the running test. */
    get database() {
      return database;
    },
    /** Starts a process on the database of the test, unless `environment` has another. */
    start: (environment: NodeJS.ProcessEnv = {}, ...args: string[]) => {
      const service = startProcess(main, { DATABASE_URL: database.url, ...environment }, ...args);
      started.push(service);
      return service;
    },
  };
}
