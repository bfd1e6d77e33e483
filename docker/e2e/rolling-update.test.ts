import { expect, test } from '@jest/globals';
import { freePort } from '@rest-services/local-postgres';
import { load, processesOf, unlike } from '@rest-services/testing';
import { block, install, main, startProgram } from './program.ts';

install('haproxy');

const processes = processesOf(main);

/** The configuration of docker/operate.md, with two replicas. What it knows of them it knows from /readyz. */
const configuration = (port: number, replicas: number[]) => `
${block('operate.md', 'haproxy\n').replace('defaults', 'defaults\n  mode http')}
${replicas.map((replica, index) => `  server replica${index} 127.0.0.1:${replica}`).join('\n')}
frontend public
  bind 127.0.0.1:${port}
  default_backend items
`;

test('Two replicas behind a balancer are replaced in turn without a failed request', async () => {
  const port = await freePort();
  const ports = await Promise.all([freePort(), freePort()]);
  const start = (replica: number) => processes.start({ NODE_ENV: 'production', PORT: `${replica}` });
  const replicas = ports.map(start);
  await Promise.all(replicas.map(({ listening }) => listening()));
  await startProgram('haproxy', ['-db', '-n', '500', '-f', 'FOLDER/cfg'], { cfg: configuration(port, ports) }, port);
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
  expect(unlike(outcomes, 200)).toEqual([]);
  expect(outcomes.length).toBeGreaterThan(600);
});
