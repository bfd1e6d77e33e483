import { expect, test } from '@jest/globals';
import { fetchWhenServed } from '../http/fetch-when-served.ts';
import { startService } from '../service/start-service.ts';
import { readmeExamples } from './readme-examples.ts';

/** Declares the test that sends a README's curl lines in their order to a service with an empty database. */
export function testReadme(main: string, file: string) {
  test('README: each curl line gets the response below it, in order on an empty database', async () => {
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
