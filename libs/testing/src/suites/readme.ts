import { expect, test } from '@jest/globals';
import { fetchWhenServed } from '../fetch-when-served.ts';
import { startService } from '../start-service.ts';
import { readmeExamples } from './readme-examples.ts';

/** Declares the test of a README's curl lines, which are sent one after the other to a service with an empty database. */
export function testReadme(main: string, file: string) {
  test('README: each curl line has the response below it, one after the other on an empty database', async () => {
    const service = await startService(main);
    const examples = readmeExamples(file);
    expect(examples.length).toBeGreaterThan(5);
    for (const { line, method, path, headers, body, status, pattern } of examples) {
      const init = { method, headers, ...(body === undefined ? {} : { body }) };
      const response = await fetchWhenServed(service.url + path, init);
      expect([line, response.status, await response.text()]).toEqual([line, status, expect.stringMatching(pattern)]);
    }
    await service.stop();
  });
}
