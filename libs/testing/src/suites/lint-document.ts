import { createConfig, lintFromString } from '@redocly/openapi-core';

/** Returns one line for each problem that Redocly's strict rules find in an OpenAPI document. */
export async function documentProblems(document: object): Promise<string[]> {
  const config = await createConfig({
    extends: ['recommended-strict'],
  });
  const problems = await lintFromString({ source: JSON.stringify(document), config });
  return problems.map(({ ruleId, message, location }) => `${ruleId}: ${message} (${location[0]?.pointer ?? ''})`);
}
