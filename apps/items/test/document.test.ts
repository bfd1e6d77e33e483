import { testDocument } from '@rest-services/service/testing';
import { buildApp } from '../src/app.ts';
import { migrations } from '../src/database.ts';

testDocument('items', { migrations, buildApp });
