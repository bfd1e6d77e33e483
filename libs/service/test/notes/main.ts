import { startService } from '../../src/start.ts';

void startService({
  name: 'notes',
  defaultPort: 8090,
  load: async () => {
    const { buildApp } = await import('./app.ts');
    const { migrations, rowCounts } = await import('./database.ts');
    return { migrations, rowCounts: [rowCounts], buildApp };
  },
});
