import { isDeepStrictEqual } from 'node:util';
import { join } from 'node:path';
import type { Databases } from './databases.ts';
import type { Benchmark, Entry } from './measure.ts';
import { fill, type Request, type Scenario } from './scenarios.ts';
import { mainOf, startServer, type Server } from './servers.ts';

/** The contestants, as the tables name them. */
export const names = {
  service: 'This service',
  withoutKey: 'POST',
  express: 'Express',
  kysely: 'Fastify',
  constant: 'Constant',
} as const;

/** Number of requests of each scenario whose responses are compared. */
const COMPARED = 3;

/** Starts the services and the baselines, and checks that they respond the same. @returns the entries of all scenarios */
export async function startContestants(
  { items, tutorials }: Databases,
  scenarios: Scenario[],
  { stopAtEnd }: Benchmark,
): Promise<{ entries: Entry[]; services: Server[] }> {
  const start = async (...args: Parameters<typeof startServer>) => {
    const server = await startServer(...args);
    stopAtEnd(server.stop);
    return server;
  };
  const baseline = (name: string) => start(join(import.meta.dirname, 'baselines', `${name}.ts`), items);
  const services = {
    items: await start(mainOf('items'), items),
    tutorials: await start(mainOf('tutorials'), tutorials, '/api/tutorials/1'),
  };
  const baselines = [
    { contestant: names.express, server: await baseline('express-sequelize') },
    { contestant: names.kysely, server: await baseline('fastify-kysely') },
  ];
  const constant = { contestant: names.constant, server: await baseline('constant') };

  const entries: Entry[] = [];
  for (const { title, service, request } of scenarios) {
    const common = { scenario: title, request };
    const server = services[service];
    entries.push({ ...common, contestant: names.service, server });
    if (request.key) {
      const { key: _, ...withoutKey } = request;
      entries.push({ ...common, contestant: names.withoutKey, server, request: withoutKey });
      continue;
    }
    for (const each of baselines) {
      await expectSame(server, each.server, request);
      entries.push({ ...common, ...each });
    }
    if (['GET one', 'GET first page'].includes(title)) entries.push({ ...common, ...constant });
  }
  for (const { server } of baselines) await expectRefusal(server);
  return { entries, services: Object.values(services) };
}

/** @throws Error when a baseline responds with another status than the service, or to a GET with another body */
async function expectSame(service: Server, baseline: Server, { method, path, body }: Request) {
  for (let sample = 0; sample < COMPARED; sample += 1) {
    const request = [method, fill(path), body && fill(body)] as const;
    const [expected, received] = [await send(service, ...request), await send(baseline, ...request)];
    const isSame = method === 'GET' ? isDeepStrictEqual(received, expected) : received.status === expected.status;
    if (!isSame || expected.status >= 300)
      throw new Error(`${request.join(' ')}: ${JSON.stringify(received)}, the service: ${JSON.stringify(expected)}`);
  }
}

/** @throws Error when a baseline does not check titles */
async function expectRefusal(baseline: Server) {
  const { status } = await send(baseline, 'POST', '/v1/items', '{"title":" "}');
  if (status !== 400) throw new Error(`${baseline.url} responds ${status} to a blank title`);
}

async function send({ url }: Server, method: string, path: string, body?: string) {
  const response = await fetch(url + path, {
    ...{ method, headers: body === undefined ? {} : { 'content-type': 'application/json' }, body: body ?? null },
  });
  return { status: response.status, body: await response.json() };
}
