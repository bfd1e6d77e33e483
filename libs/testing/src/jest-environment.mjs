import { TestEnvironment } from 'jest-environment-node';

/**
 * Closes after the last test of a file what its tests have left open, even if `--testNamePattern` named none and no `afterAll` ran. Tells
 * of a failed test why its services responded 503.
 */
export default class extends TestEnvironment {
  /** @param {{ name: string, test?: { errors: unknown[] } }} event */
  async handleTestEvent({ name, test }) {
    if (name === 'test_done' && test?.errors.length) this.global.explainRefusals?.();
    if (name === 'run_finish') await this.global.closeOpen?.();
  }

  /** Of a file that has thrown before its tests. */
  async teardown() {
    await this.global.closeOpen?.();
    await super.teardown();
  }
}
