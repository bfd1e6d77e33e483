import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { createTestDatabase, freePort } from '@rest-services/local-postgres';
import { load, startProcess } from '@rest-services/testing';
import { startProgram } from './program.ts';

const main = join(import.meta.dirname, '..', '..', 'apps', 'items', 'dist', 'main.js');

/** Two replicas behind it; what it knows of them it knows from /readyz, as docker/operate.md has it. */
const configuration = (port: number, replicas: number[]) => `
global
  maxconn 500
defaults
  mode http
  timeout connect 2s
  timeout client 30s
  timeout server 30s
  timeout check 3s
  option redispatch
frontend public
  bind 127.0.0.1:${port}
  default_backend items
backend items
  option httpchk GET /readyz
  default-server check inter 200ms fall 1 rise 1
${replicas.map((replica, index) => `  server replica${index} 127.0.0.1:${replica}`).join('\n')}
`;

test('Rolling update without a failed request: two replicas behind a load balancer are replaced in turn under constant load', async () => {
  const database = await createTestDatabase();
  const port = await freePort();
  const ports = await Promise.all([freePort(), freePort()]);
  const start = (replica: number) =>
    startProcess(main, { NODE_ENV: 'production', DATABASE_URL: database.url, PORT: `${replica}` });
  const replicas = ports.map(start);
  await Promise.all(replicas.map(({ listening }) => listening()));
  const balancer = await startProgram(
    'haproxy',
    ['-db', '-f', 'FOLDER/cfg'],
    { cfg: configuration(port, ports) },
    port,
  );
  const url = `http://127.0.0.1:${port}`;
  const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"title":"a"}' };
  const { id } = (await (await fetch(`${url}/v1/items`, init)).json()) as { id: number };

  const traffic = load(url, [`/v1/items/${id}`, '/v1/items', '/v1/items/summary'], 32);
  for (const [index, replica] of ports.entries()) {
    await traffic.until(({ status }) => status === 200, 200);
    replicas[index]!.child.kill('SIGTERM');
    expect((await replicas[index]!.ended).code).toBe(0);
    replicas[index] = start(replica);
    // The balancer has found it.
    await replicas[index].logged(/^request$/);
  }
  await traffic.until(({ status }) => status === 200, 200);
  const outcomes = await traffic.stop();
  expect(outcomes.filter(({ status }) => status !== 200)).toEqual([]);
  expect(outcomes.length).toBeGreaterThan(600);

  replicas.forEach(({ child }) => child.kill('SIGKILL'));
  await Promise.all(replicas.map(({ ended }) => ended));
  await balancer.stop();
  await database.drop();
});
