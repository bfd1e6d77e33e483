import { createConfig, lintFromString } from '@redocly/openapi-core';

/** Returns one line for each problem that Redocly's recommended rules find in an OpenAPI document. */
export async function documentProblems(document: object): Promise<string[]> {
  const config = await createConfig({
    extends: ['recommended'],
    rules: {
      // A service does not know its public URL, and a list of all records has no 4xx response.
      'operation-4xx-response': 'off',
      'no-server-example.com': 'off',
    },
  });
  const problems = await lintFromString({ source: JSON.stringify(document), config });
  return problems.map(({ ruleId, message, location }) => `${ruleId}: ${message} (${location[0]?.pointer ?? ''})`);
}
