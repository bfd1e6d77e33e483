export { Batcher } from './batcher.ts';
export { coalesce } from './coalesce.ts';
export { beginBy, withDeadline, type Deadlines } from './deadlines.ts';
export { Semaphore } from './semaphore.ts';
export { callersOf, sharedContext } from './shared-context.ts';
