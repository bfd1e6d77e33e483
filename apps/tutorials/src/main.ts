import { startService } from '@rest-services/service/start';

void startService({
  name: 'tutorials',
  defaultPort: 8080,
  load: async () => {
    const { buildApp } = await import('./app.ts');
    const { migrations } = await import('./database.ts');
    return { migrations, buildApp };
  },
});
