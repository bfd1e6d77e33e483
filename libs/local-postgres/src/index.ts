export { freePort, startCluster, type Cluster } from './cluster.ts';
export * from './databases.ts';
export { signalServer } from './processes.ts';
