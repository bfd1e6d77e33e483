import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { parse, parseDocument, visit } from 'yaml';

const workspace = join(import.meta.dirname, '../..');
const read = (file: string) => readFileSync(join(workspace, file), 'utf8');
const readJson = (file: string) => JSON.parse(read(file)) as unknown;

interface Step {
  uses?: string;
  run?: string;
  with?: Record<string, unknown>;
  if?: string;
  env?: Record<string, unknown>;
}
interface Job {
  if?: string;
  permissions?: Record<string, string>;
  needs?: string | string[];
  'timeout-minutes'?: number;
  steps: Step[];
}
interface Workflow {
  on: { push: object };
  permissions?: unknown;
  concurrency?: { group: string };
  jobs: Record<string, Job>;
}

const folder = '.github/workflows';
const files = readdirSync(join(workspace, folder)).map((file) => join(folder, file));
const workflow = (file: string) => parse(read(file)) as Workflow;
const jobs = (file: string) => Object.entries(workflow(file).jobs);

/** Steps of a workflow, those of our own actions included. */
const steps = (file: string) =>
  jobs(file).flatMap(([, job]) => [
    ...job.steps,
    ...job.steps.flatMap(({ uses }) => (uses?.startsWith('./') ? actionSteps(join(uses, 'action.yml')) : [])),
  ]);
const actionSteps = (file: string) => (parse(read(file)) as { runs: { steps: Step[] } }).runs.steps;

/** What each job that publishes may write. */
const WRITES: Record<string, string[]> = {
  'ci.yml publish': ['packages', 'id-token', 'attestations'],
  'release.yml image': ['packages'],
  'release.yml client': ['id-token', 'attestations'],
};

describe.each(files)('%s', (file) => {
  test('pins each action to a commit, with its release as a comment', () => {
    const own = steps(file).flatMap(({ uses }) => (uses?.startsWith('./') ? join(uses, 'action.yml') : []));
    const actions: string[] = [];
    for (const source of [file, ...new Set(own)]) {
      visit(parseDocument(read(source)), {
        Pair(_, { key, value }) {
          if (String(key) === 'uses') actions.push(`${String(value)}#${(value as { comment?: string }).comment ?? ''}`);
        },
      });
    }
    const named = new Set(steps(file).flatMap(({ uses }) => uses ?? []));
    expect(new Set(actions.map((action) => action.split('#')[0]))).toEqual(named);
    const pinned = /^[\w-]+\/[\w./-]+@[0-9a-f]{40}# v\d+\.\d+\.\d+$/;
    const others = actions.filter((action) => !action.startsWith('./'));
    expect(others.length).toBeGreaterThan(0);
    expect(others.filter((action) => !pinned.test(action))).toEqual([]);
  });

  test('gives no permission to all jobs, and the writing ones to those that publish', () => {
    expect(workflow(file).permissions).toEqual({});
    for (const [name, { permissions = {} }] of jobs(file)) {
      const writes = Object.keys(permissions).filter((each) => permissions[each] === 'write');
      expect([name, writes]).toEqual([name, WRITES[`${basename(file)} ${name}`] ?? []]);
    }
  });

  test('keeps no credentials in what it checks out', () => {
    const checkouts = steps(file).filter(({ uses }) => uses?.startsWith('actions/checkout@'));
    for (const step of checkouts) expect(step.with).toMatchObject({ 'persist-credentials': false });
  });

  test('has a concurrency group, a time limit for each job, and jobs that need jobs that exist', () => {
    expect(workflow(file).concurrency?.group).toContain('github.ref');
    const names = jobs(file).map(([name]) => name);
    for (const [name, job] of jobs(file)) {
      expect([name, job['timeout-minutes']]).toEqual([name, expect.any(Number)]);
      expect(names).toEqual(expect.arrayContaining([job.needs ?? []].flat()));
    }
  });
});

describe('The images of ci.yml', () => {
  const { jobs } = workflow(join(folder, 'ci.yml'));
  const build = jobs.image!.steps.find(({ uses }) => uses?.startsWith('docker/build-push-action@'))!;
  const actionsOf = (job: string) => jobs[job]!.steps.flatMap(({ uses }) => uses?.split('@')[0] ?? []);

  test('are built once for both platforms, with provenance and SBOM, into an archive', () => {
    const builds = Object.values(jobs)
      .flatMap(({ steps }) => steps)
      .filter(({ uses }) => uses === build.uses);
    expect(builds).toEqual([build]);
    expect(build.with).toMatchObject({
      platforms: 'linux/amd64,linux/arm64',
      provenance: 'mode=max',
      sbom: true,
      outputs: 'type=oci,dest=${{ matrix.app }}.tar',
    });
    expect(build.with).not.toHaveProperty('push');
  });

  test('are built with arguments that the Dockerfile has', () => {
    const given = (build.with!['build-args'] as string).trim().split('\n');
    const known = [...read('docker/Dockerfile').matchAll(/^ARG (\w+)/gm)].map(([, name]) => name);
    expect(given.map((line) => line.split('=')[0])).toEqual(['APP', 'VERSION', 'REVISION', 'CREATED']);
    expect(known).toEqual(expect.arrayContaining(given.map((line) => line.split('=')[0])));
  });

  test('have the version of their service as label', () => {
    const source = jobs.image!.steps.find(({ run }) => run?.includes('version='))!;
    expect(source.run).toContain('jq --raw-output .version "apps/$APP/package.json"');
    expect(source.env).toEqual({ APP: '${{ matrix.app }}' });
    expect(build.with!['build-args']).toContain('VERSION=${{ steps.source.outputs.version }}\n');
  });

  test('are attested once they are published', () => {
    const [publish, attest] = jobs.publish!.steps.slice(-2);
    expect(publish!.run).toBe('node .ci/images.ts publish');
    expect(attest).toMatchObject({
      if: jobs.image!.if,
      uses: expect.stringMatching(/^actions\/attest-build-provenance@/),
      with: { 'subject-checksums': 'images/checksums.txt' },
    });
  });

  test('are tested and published from the same archives', () => {
    const downloads = ['containers', 'publish'].map((job) =>
      jobs[job]!.steps.find(({ uses }) => uses?.startsWith('actions/download-artifact@')),
    );
    expect(downloads[0]?.with).toEqual({ pattern: 'image-*', path: 'images', 'merge-multiple': true });
    expect(downloads[1]).toEqual(downloads[0]);
    expect(jobs.publish!.needs).toContain('containers');
    expect(jobs.containers!.steps).toContainEqual({
      run: '.ci/steps/containers',
      env: { IMAGES_ARE_LOADED: true },
    });
    expect(actionsOf('publish')).not.toContain('docker/build-push-action');
  });

  test('start on an emulated arm64 before they are published', () => {
    expect(jobs.containers!.steps).toContainEqual({
      run: expect.stringMatching(/^docker compose .* up --no-build --detach --wait$/),
      env: { TAG: 'arm64' },
    });
  });

  test('are tagged on each push, also when none has changed', () => {
    expect(jobs.image!.if).toBe("needs.check.outputs.changed != '[]'");
    for (const job of ['containers', 'publish']) expect(jobs[job]!.if).toContain('!failure() && !cancelled()');
    expect(workflow(join(folder, 'ci.yml')).concurrency!.group).toContain('github.sha');
  });
});

describe('release.yml', () => {
  const { on, jobs } = workflow(join(folder, 'release.yml'));

  test('runs for tags alone, and ci.yml for none', () => {
    expect(on.push).toEqual({ tags: ['*@*'] });
    expect(workflow(join(folder, 'ci.yml')).on.push).toEqual({ branches: ['main'] });
  });

  test('releases what ci.yml has passed on main: the client for its tags, an image for all others', () => {
    expect(jobs.check!.steps[0]!.run).toContain(
      '--workflow ci.yml --branch main --commit "$GITHUB_SHA" --status success',
    );
    expect([jobs.image!.needs, jobs.client!.needs]).toEqual(['check', 'check']);
    expect(jobs.client!.if).toBe("${{ startsWith(github.ref_name, 'client@') }}");
    expect(jobs.image!.if).toBe("${{ !startsWith(github.ref_name, 'client@') }}");
  });

  test('tags the image that has been tested, and builds none', () => {
    expect(jobs.image!.steps.at(-1)).toEqual({ run: 'node .ci/images.ts release' });
    for (const { uses } of jobs.image!.steps) expect(uses ?? '').not.toContain('build-push-action');
  });

  test('attests the package of the client before it publishes the same file with provenance', () => {
    const [attest, publish] = jobs.client!.steps.slice(-2);
    expect(attest).toMatchObject({
      uses: expect.stringMatching(/^actions\/attest-build-provenance@/),
      with: { 'subject-path': 'libs/client/dist/*.tgz' },
    });
    expect(publish!.run).toBe('npm publish ./libs/client/dist/*.tgz --provenance --access public');
  });
});

describe('The caches of ci.yml', () => {
  const all = steps(join(folder, 'ci.yml'));
  const cacheSteps = (name: string) => all.filter(({ uses }) => uses?.startsWith(name));

  test('are saved on main alone, also after a failed job', () => {
    const saves = cacheSteps('actions/cache/save@');
    expect(saves).toHaveLength(2);
    for (const save of saves) expect(save.if).toMatch(/^always\(\) && github\.ref == 'refs\/heads\/main'( &&|$)/);
    expect(cacheSteps('actions/cache@')).toEqual([]);
    for (const { with: options } of cacheSteps('actions/setup-node@')) expect(options).not.toHaveProperty('cache');
  });
});

test('ci.yml and .ci/run run the same steps', () => {
  const expected = readdirSync(join(workspace, '.ci/steps')).map((name) => `.ci/steps/${name}`);
  const scripts = [
    read('.ci/run'),
    steps(join(folder, 'ci.yml'))
      .map(({ run }) => run)
      .join('\n'),
  ];
  for (const script of scripts) expect([...new Set(script.match(/\.ci\/steps\/\w+/g))].sort()).toEqual(expected.sort());
});

describe('.github/renovate.json', () => {
  interface Rule {
    groupName?: string;
    matchManagers?: string[];
    matchPackageNames?: string[];
    allowedVersions?: string;
  }
  const { extends: presets, packageRules } = readJson('.github/renovate.json') as {
    extends: string[];
    packageRules: Rule[];
  };

  test('moves packages, actions, images and Node.js, each in one pull request', () => {
    // The default enables all managers, that of the Dockerfile among them; the second pins each image by its digest.
    expect(presets).toEqual(['config:recommended', 'docker:pinDigests']);
    const groups = packageRules.flatMap(({ groupName }) => groupName ?? []);
    expect(groups).toEqual(['packages', 'actions', 'images', 'Node.js']);
    const managers = packageRules.flatMap(({ matchManagers = [] }) => matchManagers);
    expect(managers).toEqual(['npm', 'github-actions', 'docker-compose']);
    expect(existsSync(join(workspace, '.github/dependabot.yml'))).toBe(false);
  });

  test('keeps Node.js at the release line of .nvmrc, in the packages and in the base image', () => {
    const line = read('.nvmrc').trim();
    const { allowedVersions } = packageRules.find(({ groupName }) => groupName === 'Node.js')!;
    expect(allowedVersions).toBe(`/^${line}(\\.|$)/`);
    const [, image] = /^ARG NODE_IMAGE=docker\.io\/library\/node:(\d+\.\d+\.\d+)-/m.exec(read('docker/Dockerfile'))!;
    const { optionalDependencies } = readJson('package.json') as { optionalDependencies: Record<string, string> };
    expect(Object.values(optionalDependencies)).toEqual([image, image]);
    expect(image!.split('.')[0]).toBe(line);
  });
});
