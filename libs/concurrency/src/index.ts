export { Batcher } from './batcher.ts';
export { coalesce } from './coalesce.ts';
export { Semaphore } from './semaphore.ts';
export { withDeadline } from './with-deadline.ts';
