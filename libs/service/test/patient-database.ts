import { Database } from '@rest-services/database';

/** One connection without the time limits of requests; for what tests do beside a service. */
export const patientDatabase = <Tables>(url: string) =>
  new Database<Tables>({ url, poolMax: 1, hasTimeouts: false, onConnectionError: () => undefined });
