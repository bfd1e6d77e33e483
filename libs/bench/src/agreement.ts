import { isDeepStrictEqual } from 'node:util';
import { fill, type Scenario } from './scenarios.ts';

/** Number of requests of each kind to each contestant. */
const SAMPLES = 3;

/**
 * Checks that compared servers do the same: sends requests of a scenario to the service and to another server that has
 * the same rows.
 * @throws Error when the other one responds with another status, or to a GET with another body
 */
export async function checkAgreement(service: string, other: string, { title, requests }: Scenario): Promise<void> {
  for (const { method, path, body } of requests) {
    for (let sample = 0; sample < SAMPLES; sample += 1) {
      const asked = { method, path: fill(path, Math.random), body: body && fill(body, Math.random) };
      const [expected, answered] = [await ask(service, asked), await ask(other, asked)];
      const isSame = method === 'GET' ? isDeepStrictEqual(answered, expected) : answered.status === expected.status;
      if (!isSame || expected.status >= 300) {
        throw new Error(
          `${title}: ${JSON.stringify(answered)} is not what the service answers: ${JSON.stringify(expected)}`,
        );
      }
    }
  }
}

/** @throws Error when the server takes a blank title for one */
export async function checkValidation(url: string): Promise<void> {
  const { status } = await ask(url, { method: 'POST', path: '/v1/items', body: '{"title":" "}' });
  if (status !== 400) throw new Error(`${url} answers ${status} to a blank title`);
}

async function ask(url: string, { method, path, body }: { method: string; path: string; body?: string | undefined }) {
  const headers = body === undefined ? {} : { 'content-type': 'application/json' };
  const response = await fetch(url + path, { method, headers, ...(body === undefined ? {} : { body }) });
  return { status: response.status, body: await response.json() };
}
