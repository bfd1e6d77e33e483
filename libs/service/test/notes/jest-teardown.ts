import { rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { notesMain } from './bundled.ts';

export default () => rm(dirname(notesMain()), { recursive: true });
