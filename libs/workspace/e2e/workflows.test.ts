import { globSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { parse } from 'yaml';

// The promises to users of the images and of the client.

const workspace = join(import.meta.dirname, '../../..');
const read = (file: string) => readFileSync(join(workspace, file), 'utf8');

interface Workflow {
  permissions: object;
  jobs: Record<string, { permissions?: Record<string, string>; needs?: string | string[]; steps: Step[] }>;
}
type Step = { uses?: string; run?: string; with?: object };

const ci = parse(read('.github/workflows/ci.yml')) as Workflow;
const release = parse(read('.github/workflows/release.yml')) as Workflow;
const installation = parse(read('.github/actions/install/action.yml')) as { runs: { steps: Step[] } };
const jobs = [...Object.entries(ci.jobs), ...Object.entries(release.jobs)];
const steps = [...jobs.flatMap(([, job]) => job.steps), ...installation.runs.steps];

const step = (job: string, action: string) => ci.jobs[job]!.steps.find(({ uses }) => uses?.startsWith(`${action}@`));

test('Workflows pin actions, keep no credentials, and let only publishing jobs write', () => {
  expect(globSync('.github/{workflows,actions/*}/*.yml', { cwd: workspace })).toHaveLength(3);
  const actions = steps.flatMap(({ uses }) => uses ?? []).filter((action) => !action.startsWith('./'));
  expect(actions.filter((action) => !/@[0-9a-f]{40}$/.test(action))).toEqual([]);
  expect([ci.permissions, release.permissions]).toEqual([{}, {}]);
  const writing = jobs.flatMap(([name, { permissions = {} }]) =>
    Object.keys(permissions).flatMap((each) => (permissions[each] === 'write' ? `${name}: ${each}` : [])),
  );
  const publishing = ['publish: packages', 'publish: id-token', 'publish: attestations'];
  expect(writing).toEqual([...publishing, 'images: packages', 'client: contents']);
  for (const checkout of steps.filter(({ uses }) => uses?.startsWith('actions/checkout@')))
    expect(checkout.with).toMatchObject({ 'persist-credentials': false });
});

test('A push to main and .ci/run run the same steps', () => {
  const expected = readdirSync(join(workspace, '.ci/steps')).map((name) => `.ci/steps/${name}`);
  for (const script of [read('.ci/run'), steps.map(({ run }) => run).join('\n')])
    expect([...new Set(script.match(/\.ci\/steps\/\w+/g))].sort()).toEqual(expected.sort());
});

test('Images are published from the archives that were tested, and attested', () => {
  const { containers, publish } = ci.jobs;
  const archives = step('containers', 'actions/download-artifact');
  expect(archives).toBeDefined();
  expect(step('publish', 'actions/download-artifact')).toEqual(archives);
  expect(containers!.steps).toContainEqual({ run: '.ci/steps/containers', env: { IMAGES_ARE_LOADED: true } });
  expect(publish!.needs).toContain('containers');
  expect(step('publish', 'docker/build-push-action')).toBeUndefined();
  expect(step('publish', 'actions/attest-build-provenance')).toMatchObject({
    with: { 'subject-checksums': 'images/checksums.txt' },
  });
});

test('Images have the Node.js that the packages have, of the line in .nvmrc', () => {
  const [, version] = /^ARG NODE_IMAGE=docker\.io\/library\/node:([\d.]+)-/m.exec(read('docker/Dockerfile'))!;
  const { optionalDependencies } = JSON.parse(read('package.json')) as { optionalDependencies: object };
  expect(Object.values(optionalDependencies)).toEqual([version, version]);
  expect(version!.split('.')[0]).toBe(read('.nvmrc').trim());
});
