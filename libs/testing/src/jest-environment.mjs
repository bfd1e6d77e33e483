import { TestEnvironment } from 'jest-environment-node';

/** Ends the processes of a file of which `--testNamePattern` names no test: Jest runs no `afterAll` then, and would wait for them. */
export default class extends TestEnvironment {
  async teardown() {
    this.global.endProcesses?.();
    await super.teardown();
  }
}
