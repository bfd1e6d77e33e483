import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

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
  return readdirSync(apps)
    .sort()
    .flatMap((name) => readService(name) ?? []);
}

/** Reads what the `package.json` of an app registers, or `undefined` when it registers no service. */
export function readService(name: string): Service | undefined {
  const file = join(apps, name, 'package.json');
  // Git leaves a folder without sources behind when it holds build results.
  if (!existsSync(file)) return undefined;
  const service = (JSON.parse(readFileSync(file, 'utf8')) as Manifest).nx?.metadata?.service;
  return service && { name, ...service };
}
