import { runService } from '@rest-services/service';
import { buildApp } from './app.ts';
import { migrations, rowCounts } from './database.ts';

void runService({ defaultPort: 8080, migrations, rowCounts: [rowCounts], buildApp });
