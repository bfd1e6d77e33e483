import { openDatabase } from '@rest-services/database';

/** One connection without the time limits of requests; for what tests do beside a service. */
export const patientDatabase = <Tables>(url: string) =>
  openDatabase<Tables>({ url, poolMax: 1, timeouts: false, onConnectionError: () => undefined });
