import { globSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { parse } from 'yaml';

// The promises to users of the images and of the client.

const workspace = join(import.meta.dirname, '../..');
const read = (file: string) => readFileSync(join(workspace, file), 'utf8');

interface Workflow {
  on: { push: object };
  permissions: object;
  concurrency: { group: string };
  jobs: Record<string, { if?: string; permissions?: Record<string, string>; needs?: string | string[]; steps: Step[] }>;
}
type Step = { uses?: string; run?: string; with?: object };

const ci = parse(read('.github/workflows/ci.yml')) as Workflow;
const release = parse(read('.github/workflows/release.yml')) as Workflow;
const installation = parse(read('.github/actions/install/action.yml')) as { runs: { steps: Step[] } };
const jobs = [...Object.entries(ci.jobs), ...Object.entries(release.jobs)];
const steps = [...jobs.flatMap(([, job]) => job.steps), ...installation.runs.steps];

const uses = (action: string) => (step: Step) => step.uses?.startsWith(`${action}@`);
const attestation = { uses: expect.stringMatching(/^actions\/attest-build-provenance@/) };

describe('The workflows', () => {
  test('are those that are checked here, and pin each action of others to a commit', () => {
    expect(globSync('.github/{workflows,actions/*}/*.yml', { cwd: workspace })).toHaveLength(3);
    const actions = steps.flatMap((step) => step.uses ?? []).filter((action) => !action.startsWith('./'));
    expect(actions.filter((action) => !/@[0-9a-f]{40}$/.test(action))).toEqual([]);
  });

  test('let only the jobs that publish write, and keep no credentials', () => {
    expect([ci.permissions, release.permissions]).toEqual([{}, {}]);
    const writing = jobs.flatMap(([name, { permissions = {} }]) =>
      Object.keys(permissions).flatMap((each) => (permissions[each] === 'write' ? `${name}: ${each}` : [])),
    );
    const publishing = ['publish: packages', 'publish: id-token', 'publish: attestations'];
    expect(writing).toEqual([...publishing, 'image: packages', 'client: id-token', 'client: attestations']);
    for (const step of steps.filter(uses('actions/checkout')))
      expect(step.with).toMatchObject({ 'persist-credentials': false });
  });

  test('of a push to main and .ci/run run the same steps', () => {
    const expected = readdirSync(join(workspace, '.ci/steps')).map((name) => `.ci/steps/${name}`);
    for (const script of [read('.ci/run'), steps.map(({ run }) => run).join('\n')])
      expect([...new Set(script.match(/\.ci\/steps\/\w+/g))].sort()).toEqual(expected.sort());
  });
});

describe('The images', () => {
  const { image, containers, publish } = ci.jobs as Record<
    'image' | 'containers' | 'publish',
    Workflow['jobs'][string]
  >;

  test('are built once, for both platforms, with version, provenance and SBOM, into an archive', () => {
    const builds = steps.filter(uses('docker/build-push-action'));
    expect(builds).toEqual([image.steps.find(uses('docker/build-push-action'))]);
    expect(builds[0]!.with).toMatchObject({
      platforms: 'linux/amd64,linux/arm64',
      outputs: 'type=oci,dest=${{ matrix.app }}.tar',
      provenance: 'mode=max',
      sbom: true,
      'build-args': expect.stringContaining(
        'VERSION=${{ steps.source.outputs.version }}\nREVISION=${{ github.sha }}\n',
      ),
    });
    expect(builds[0]!.with).not.toHaveProperty('push');
  });

  test('are tested, also on arm64, and then published from the same archives and attested', () => {
    const [tested, published] = [containers, publish].map((job) => job.steps.find(uses('actions/download-artifact')));
    expect(tested!.with).toEqual({ pattern: 'image-*', path: 'images', 'merge-multiple': true });
    expect(published).toEqual(tested);
    expect(containers.steps).toContainEqual({ run: '.ci/steps/containers', env: { IMAGES_ARE_LOADED: true } });
    expect(containers.steps.at(-1)).toMatchObject({ run: expect.stringContaining(' up '), env: { TAG: 'arm64' } });
    expect(publish.needs).toContain('containers');
    expect(publish.steps.at(-2)).toMatchObject({ run: 'node .ci/images.ts publish' });
    const checksums = { 'subject-checksums': 'images/checksums.txt' };
    expect(publish.steps.at(-1)).toMatchObject({ ...attestation, if: image.if, with: checksums });
  });

  test('are tagged with each commit on main, also when none has changed', () => {
    expect([ci.on.push, ci.concurrency.group]).toEqual([{ branches: ['main'] }, expect.stringContaining('github.sha')]);
    for (const job of [containers, publish]) expect(job.if).toContain('!failure() && !cancelled()');
  });

  test('have the Node.js that the packages have, of the line in .nvmrc', () => {
    const [, version] = /^ARG NODE_IMAGE=docker\.io\/library\/node:([\d.]+)-/m.exec(read('docker/Dockerfile'))!;
    const { optionalDependencies } = JSON.parse(read('package.json')) as { optionalDependencies: object };
    expect(Object.values(optionalDependencies)).toEqual([version, version]);
    expect(version!.split('.')[0]).toBe(read('.nvmrc').trim());
  });
});

describe('A release', () => {
  const { check, image, client } = release.jobs as Record<'check' | 'image' | 'client', Workflow['jobs'][string]>;

  test('is of a tag, for a commit that has passed on main', () => {
    expect(release.on.push).toEqual({ tags: ['*@*'] });
    const passed = '--workflow ci.yml --branch main --commit "$GITHUB_SHA" --status success';
    expect(check.steps[0]!.run).toContain(passed);
    expect([image.needs, client.needs]).toEqual(['check', 'check']);
  });

  test('tags the image that was tested, or attests and publishes one package of the client', () => {
    expect(image.steps.at(-1)).toEqual({ run: 'node .ci/images.ts release' });
    expect(client.steps.at(-2)).toMatchObject({ ...attestation, with: { 'subject-path': 'libs/client/dist/*.tgz' } });
    expect(client.steps.at(-1)!.run).toBe('npm publish ./libs/client/dist/*.tgz --provenance --access public');
    const isClient = "startsWith(github.ref_name, 'client@')";
    expect([client.if, image.if]).toEqual([`\${{ ${isClient} }}`, `\${{ !${isClient} }}`]);
  });
});
