import { runService } from '@rest-services/service';
import { buildApp } from './app.ts';
import { migrations, rowCounts } from './database.ts';

void runService({ defaultPort: 3000, migrations, rowCounts: [rowCounts], buildApp });
