import { startService } from '@rest-services/service/start';

void startService({
  name: 'programming-languages',
  defaultPort: 3000,
  load: async () => {
    const { buildApp } = await import('./app.ts');
    const { migrations, rowCounts } = await import('./database.ts');
    return { migrations, rowCounts: [rowCounts], buildApp };
  },
});
