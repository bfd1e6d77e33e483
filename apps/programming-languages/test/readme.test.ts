import { join } from 'node:path';
import { testReadme } from '@rest-services/service/testing';
import { buildApp } from '../src/app.ts';
import { migrations } from '../src/database.ts';

testReadme({ migrations, buildApp }, join(import.meta.dirname, '../README.md'));
