import { join } from 'node:path';
import type { Databases } from './databases.ts';
import type { Benchmark, Entry } from './measure.ts';
import type { Scenario } from './scenarios.ts';
import { startServer, type Checkout, type Server } from './servers.ts';

/** The contestants, as the tables name them. */
export const names = {
  service: 'This service',
  other: 'Other checkout',
  withoutKey: 'POST',
  express: 'Express',
  kysely: 'Fastify',
  constant: 'Constant',
} as const;

type Services = Record<Scenario['service'], Server>;

async function start({ stopAtEnd }: Benchmark, ...args: Parameters<typeof startServer>) {
  const server = await startServer(...args);
  stopAtEnd(server.stop);
  return server;
}

/** Starts the built services of a checkout. */
export const startServices = async (checkout: Checkout, { items, tutorials }: Databases, benchmark: Benchmark) => ({
  items: await start(benchmark, checkout.mainOf('items'), items),
  tutorials: await start(benchmark, checkout.mainOf('tutorials'), tutorials, '/api/tutorials/1'),
});

/** The entries of the services, and of the same services of another checkout. */
export const rivals = (scenarios: Scenario[], own: Services, other: Services): Entry[] =>
  scenarios.flatMap(({ title, service, request }) => [
    { scenario: title, request, contestant: names.service, server: own[service] },
    { scenario: title, request, contestant: names.other, server: other[service] },
  ]);

/** Starts the baselines, of which Express has no search. @returns the entries of all */
export async function startBaselines(
  scenarios: Scenario[],
  services: Services,
  databaseUrl: string,
  benchmark: Benchmark,
): Promise<Entry[]> {
  const startBaseline = (name: string) =>
    start(benchmark, join(import.meta.dirname, 'baselines', `${name}.ts`), databaseUrl);
  const express = { contestant: names.express, server: await startBaseline('express-sequelize') };
  const kysely = { contestant: names.kysely, server: await startBaseline('fastify-kysely') };
  const constant = { contestant: names.constant, server: await startBaseline('constant') };

  return scenarios.flatMap(({ title, service, request }) => {
    const server = services[service];
    const { key, ...withoutKey } = request;
    const contestants = [
      ...(key ? [{ contestant: names.withoutKey, server, request: withoutKey }] : [kysely]),
      ...(key || service === 'tutorials' ? [] : [express]),
      ...(['GET one', 'GET first page'].includes(title) ? [constant] : []),
    ];
    return [{ contestant: names.service, server }, ...contestants].map((each) => ({
      scenario: title,
      request,
      ...each,
    }));
  });
}
