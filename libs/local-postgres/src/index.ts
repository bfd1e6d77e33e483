export { freePort, startCluster, type Cluster } from './cluster.ts';
export {
  createPreparedDatabase,
  createTestDatabase,
  ensureDatabase,
  withClient,
  type TestDatabase,
} from './databases.ts';
export { signalServer } from './processes.ts';
