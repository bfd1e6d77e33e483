export { freePort, startCluster, type Cluster } from './cluster.ts';
export { createPreparedDatabase, createTestDatabase, ensureDatabase, type TestDatabase } from './databases.ts';
export { signalServer } from './processes.ts';
