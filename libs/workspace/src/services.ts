import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** A service, as `nx.metadata.service` in its `package.json` registers it. */
export interface Service {
  /** Name of its folder in `apps`, of its Nx project and of its database. */
  name: string;
  /** Default of PORT. */
  port: number;
  /** Port of `npm start` and Compose, on which no other service is. */
  localPort: number;
  /** Path of its list of records. */
  path: string;
  /** App whose build the service serves as its pages in production mode. */
  client?: string;
}

interface Manifest {
  nx?: { metadata?: { service?: Omit<Service, 'name'> } };
}

const apps = join(import.meta.dirname, '..', '..', '..', 'apps');

/** Reads all services, in the order of their names. */
export function services(): Service[] {
  const manifests = globSync('*/package.json', { cwd: apps }).sort();
  return manifests.flatMap((file) => {
    const { nx } = JSON.parse(readFileSync(join(apps, file), 'utf8')) as Manifest;
    return nx?.metadata?.service ? { name: dirname(file), ...nx.metadata.service } : [];
  });
}
