import { createConfig, lintFromString } from '@redocly/openapi-core';

/** What Redocly's recommended rules find in an OpenAPI document, a line each. */
export async function documentProblems(document: object): Promise<string[]> {
  const config = await createConfig({
    extends: ['recommended'],
    rules: {
      // The services stand where they are deployed, and a list of all records can't be wrong on the caller's side.
      'operation-4xx-response': 'off',
      'no-server-example.com': 'off',
    },
  });
  const problems = await lintFromString({ source: JSON.stringify(document), config });
  return problems.map(({ ruleId, message, location }) => `${ruleId}: ${message} (${location[0]?.pointer ?? ''})`);
}
