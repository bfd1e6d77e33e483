import { withPostgres } from '../jest.preset.mjs';

/** Tests with Debian's haproxy, pgbouncer, PostgreSQL and Patroni, on the built services: npm run test:system */
export default {
  ...withPostgres,
  rootDir: import.meta.dirname,
};
