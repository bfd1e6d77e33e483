import { expect } from '@jest/globals';
import { withMargin, type LogLine, type Outcome } from '@rest-services/testing';

/** Maximum time of a response, also while the database fails. */
const RESPONSE_LIMIT_MS = withMargin(3_000);

/**
 * Expects successes, 503s, and 500s with nothing but a code, all in time. The service's log has the times, because hundreds of
 * clients in the test process read late on a busy machine.
 */
export function expectContract({ log }: { log: LogLine[] }, outcomes: Outcome[]) {
  const times = log.filter(({ msg }) => msg === 'request').map(({ ms }) => ms as number);
  expect(Math.max(...times)).toBeLessThan(RESPONSE_LIMIT_MS);
  for (const { status, body, retryAfter, failure } of outcomes) {
    expect(failure).toBeUndefined();
    if (status === 500) {
      const error = { code: expect.stringMatching(/^[A-Z0-9_]+$/) };
      expect(JSON.parse(body!)).toEqual({ message: 'Database error', error });
    } else if (status === 503) {
      expect(JSON.parse(body!)).toEqual({ message: 'The service is overloaded, try again in a moment' });
      expect(retryAfter).toMatch(/^\d+$/);
    } else expect([200, 201]).toContain(status);
  }
}
