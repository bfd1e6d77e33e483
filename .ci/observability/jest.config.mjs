import { withPostgres } from '../jest.preset.mjs';

/** Metrics, rules and dashboards, with Debian's promtool and Prometheus, on the built items service: npm run test:observability */
export default {
  ...withPostgres,
  rootDir: import.meta.dirname,
};
