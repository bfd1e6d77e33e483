export { serve, type Answer } from './harness.ts';
export { load, type Outcome } from './load.ts';
export { startProcess } from './process.ts';
export { readmeExamples, type Example } from './readme.ts';
