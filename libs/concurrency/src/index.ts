export { Batcher } from './batcher.ts';
export { coalesce, SharedCalls } from './coalesce.ts';
export { Semaphore } from './semaphore.ts';
export { callersOf, sharedContext } from './shared-context.ts';
export { withDeadline } from './with-deadline.ts';
