export { freePort, startCluster, type Cluster, type ClusterOptions } from './cluster.ts';
export { createTestDatabase, ensureDatabase, type TestDatabase } from './databases.ts';
export { imageEnvironment } from './image-environment.ts';
