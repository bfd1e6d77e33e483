import { setTimeout as sleep } from 'node:timers/promises';
import { Database, type Migrations, type RowCounts } from '@rest-services/database';
import type { Service } from './create-service.ts';
import { foldInBackground } from './fold-row-counts.ts';
import { addHealth, type Lifecycle } from './observability/health.ts';
import { addMetrics } from './observability/metrics.ts';
import { TaskFailures } from './observability/task-failures.ts';
import { connectionOf, isTraced, type Settings } from './settings.ts';

/** Timeout for the last export: in a drain, there are 2 s left after the requests. */
const LAST_EXPORT_LIMIT_MS = 1_000;

export interface ServiceDefinition<Tables> {
  /** Shown by PostgreSQL as the `application_name` of its sessions, and in the metrics. */
  name: string;
  migrations: Migrations;
  /** Tables whose rows the migrations count. */
  rowCounts?: RowCounts[];
  buildApp: (db: Database<Tables>, settings: Settings) => Promise<Service>;
}

/** The parts of a service, connected to each other and not started. */
export async function assembleService<Tables>(
  { name, migrations, rowCounts = [], buildApp }: ServiceDefinition<Tables>,
  settings: Settings,
) {
  const common = { applicationName: name, onConnectionError };
  const connection = { ...common, ...connectionOf(settings, 'DATABASE_URL')! };
  const migrationUrl = connectionOf(settings, 'DATABASE_MIGRATION_URL');
  const migrationConnection = migrationUrl ? { ...common, ...migrationUrl } : connection;
  const pooled = {
    ...connection,
    pooler: settings.DATABASE_POOLER,
    readsFrom: connectionOf(settings, 'DATABASE_READ_URL'),
  };
  const taskFailures = new TaskFailures();
  const db = new Database<Tables>({
    ...pooled,
    poolMax: settings.DATABASE_POOL_MAX,
    onKeysNotDeleted: (error) => taskFailures.report('delete_expired_keys', error, app.log),
  });
  const app = await buildApp(db, settings);
  const lifecycle: Lifecycle = { isDraining: false };
  // A dedicated connection: probes check whether the database can be reached, not whether there is much to do.
  const probing = new Database<Tables>({ ...pooled, poolMax: 1 });
  app.addHook('onClose', () => probing.destroy());
  const health = addHealth(app, { db, probing, migrations, lifecycle });
  const rowCountState = foldInBackground(app, db, rowCounts, (error) =>
    taskFailures.report('fold_row_counts', error, app.log),
  );
  addMetrics(app, { db, service: name, health, rowCounts: rowCountState, taskFailures });
  // Without traces, its code is not loaded, and a start takes as long as without it.
  const telemetry = isTraced(settings) ? await import('./observability/telemetry/telemetry.ts') : undefined;
  const shutDown = telemetry?.startExport(name, app.log);
  // Compiles the shapes of all routes. Otherwise their errors would be taken for those of the address to listen on.
  await app.ready();
  return { app, db, lifecycle, exportRest, connection, migrationConnection };

  async function exportRest() {
    if (shutDown) await Promise.race([shutDown(), sleep(LAST_EXPORT_LIMIT_MS)]);
  }

  function onConnectionError(error: Error, server: string, event: string) {
    app.log.warn({ err: error, server }, event);
  }
}
