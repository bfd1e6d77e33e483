import { expect, test } from '@jest/globals';
import type { SharedProcess } from '../service/processes.ts';
import { readmeExamples } from './readme-examples.ts';

/** Declares the test that sends a README's curl lines in their order to a service with empty tables. */
export function testReadme(shared: SharedProcess, file: string) {
  test('README: each curl line gets the response below it', async () => {
    const examples = readmeExamples(file);
    expect(examples.length).toBeGreaterThan(5);
    for (const { line, method, path, headers, body, status, pattern } of examples) {
      const response = await fetch(shared.url + path, { method, headers, ...(body === undefined ? {} : { body }) });
      expect([line, response.status, await response.text()]).toEqual([line, status, expect.stringMatching(pattern)]);
    }
  });
}
