// A service that can't start, because one of its shapes is wrong: see settings.test.ts
import { Type } from 'typebox';
import { createService } from '../../src/index.ts';
import { startService } from '../../src/start.ts';

void startService({
  name: 'wrong',
  defaultPort: 8090,
  load: () =>
    Promise.resolve({
      migrations: {},
      buildApp: async (_db: unknown, settings) => {
        const options = { title: 'Wrong', description: 'Wrong.', failure: 'Database error', includeCode: true };
        const app = await createService({ settings, ...options });
        const body = Type.Object({ week: Type.String({ format: 'week' }) }, { $id: 'CreateThing' });
        app.post('/things', { schema: { body } }, () => ({}));
        return app;
      },
    }),
});
