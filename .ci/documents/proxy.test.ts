import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from '@jest/globals';
import { services } from '@rest-services/workspace';

/** Tests with requests that Prism does not pass on as they are, by a pattern of their names. */
const notPassedOn = {
  HEAD: 'Prism responds 500 to HEAD, because the document has GET alone.',
  'trailing slash': 'Prism takes /v1/items/ for /v1/items/{id}.',
  'from past the end': 'One of these requests has a trailing slash.',
  'malformed JSON': 'Prism parses bodies, and refuses this one itself.',
  'Invalid id to %(ff)?$': 'Prism ends at a percent sign that encodes nothing.',
  'as parseInt\\(segment, 10\\) does': 'One of these segments ends in a percent sign.',
};

test.each(services())('Prism finds nothing in the contract tests of $name', async ({ name }) => {
  const args = ['test/contract', 'test/client', '--testNamePattern', `^(?!.*(${Object.keys(notPassedOn).join('|')}))`];
  const result = await promisify(execFile)('jest', [...args, '--json', '--maxWorkers', '2'], {
    cwd: join(import.meta.dirname, '../../apps', name),
    env: {
      ...process.env,
      PRISM_CLI: join(import.meta.dirname, 'node_modules/@stoplight/prism-cli/dist/index.js'),
      DATABASE_URL: process.env.TEST_SERVER_URL,
    },
  }).catch((error: unknown) => error as { stdout: string; stderr: string });
  const { numPassedTests, numFailedTests } = JSON.parse(result.stdout) as Record<string, number>;
  expect([numFailedTests, numFailedTests === 0 ? '' : result.stderr]).toEqual([0, '']);
  expect(numPassedTests).toBeGreaterThan(5);
});
