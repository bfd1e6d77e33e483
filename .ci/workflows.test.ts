import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { services } from '@rest-services/workspace';
import { parse, parseDocument, visit } from 'yaml';

const workspace = join(import.meta.dirname, '..');
const read = (file: string) => readFileSync(join(workspace, file), 'utf8');
const readJson = (file: string) => JSON.parse(read(file)) as unknown;

interface Step {
  uses?: string;
  run?: string;
  with?: Record<string, unknown>;
}
interface Job {
  permissions?: Record<string, string>;
  needs?: string | string[];
  'timeout-minutes'?: number;
  steps: Step[];
}
interface Workflow {
  permissions?: unknown;
  concurrency?: { group: string };
  jobs: Record<string, Job>;
}

const folder = '.github/workflows';
const files = readdirSync(join(workspace, folder)).map((file) => join(folder, file));
const workflow = (file: string) => parse(read(file)) as Workflow;
const jobs = (file: string) => Object.entries(workflow(file).jobs);
const steps = (file: string) => jobs(file).flatMap(([, job]) => job.steps);

const { scripts } = readJson('package.json') as { scripts: Record<string, string> };

/** The targets of each project that has some. */
const targets = ['apps', 'libs']
  .flatMap((parent) => readdirSync(join(workspace, parent)).map((name) => join(parent, name, 'package.json')))
  .map((file) => (readJson(file) as { nx: { name: string; targets: object } }).nx)
  .map(({ name, targets }) => ({ name, targets: Object.keys(targets) }));
const projectsWith = (target: string) =>
  targets.filter((each) => each.targets.includes(target)).map(({ name }) => name);

/** The commands of a script that call npm, npx or nx, as words. */
function commandsOf(script: string) {
  return script
    .split(/\n|&&|\|\|?|;|\$\(|\)/)
    .map((command) => command.trim().split(/\s+/))
    .map((words) => (words[0] === 'npx' ? words.slice(1) : words))
    .filter(([tool]) => tool === 'npm' || tool === 'nx');
}

/** The words that follow an option, up to the next one. */
function valuesOf(words: string[], ...names: string[]) {
  const values = words.slice(words.findIndex((word) => names.includes(word)) + 1);
  const end = values.findIndex((word) => word.startsWith('-'));
  return end < 0 ? values : values.slice(0, end);
}

/** What a command names and the workspace lacks. */
function missing([tool, command = '', ...words]: string[]) {
  if (tool === 'npm') {
    if (command === 'ci') return [];
    const script = command === 'run' ? words.find((word) => !word.startsWith('-'))! : command;
    return script in scripts ? [] : [`script ${script}`];
  }
  const named =
    command === 'affected' || command === 'run-many'
      ? valuesOf(words, '-t', '--target', '--targets')
      : command === 'show'
        ? valuesOf(words, '--with-target')
        : [command];
  return named.filter((target) => projectsWith(target).length === 0).map((target) => `target ${target}`);
}

/** Paths that a step names: all in its options that take one, and those in its script that are below a folder of ours. */
function pathsOf({ run = '', with: options = {} }: Step) {
  const inScript = run.match(/(?<![\w./$}-])(?:apps|libs|docker|\.ci|\.github)\/[\w./-]+/g) ?? [];
  const inOptions = Object.entries(options)
    .filter(([name]) => /^(file|context|node-version-file|cache-dependency-path)$/.test(name))
    .map(([, path]) => String(path));
  return [...inScript, ...inOptions];
}

describe.each(files)('%s', (file) => {
  test('calls only scripts that package.json has and targets that a project has', () => {
    const commands = steps(file).flatMap(({ run }) => commandsOf(run ?? ''));
    expect(commands.length).toBeGreaterThan(0);
    for (const command of commands) expect([command, missing(command)]).toEqual([command, []]);
  });

  test('names only files that exist', () => {
    const paths = steps(file).flatMap(pathsOf);
    expect(paths.filter((path) => !existsSync(join(workspace, path)))).toEqual([]);
  });

  test('pins each action to a commit, with its release as a comment, or to an exact release', () => {
    const actions: string[] = [];
    visit(parseDocument(read(file)), {
      Pair(_, { key, value }) {
        if (String(key) === 'uses') actions.push(`${String(value)}#${(value as { comment?: string }).comment ?? ''}`);
      },
    });
    expect(actions).toHaveLength(steps(file).filter(({ uses }) => uses).length);
    const pinned = /^[\w-]+\/[\w./-]+@([0-9a-f]{40}# v\d+\.\d+\.\d+|v\d+\.\d+\.\d+#.*)$/;
    expect(actions.filter((action) => !pinned.test(action))).toEqual([]);
  });

  test('gives no permission to all jobs, and the writing ones to those that publish', () => {
    expect(workflow(file).permissions).toEqual({});
    for (const [name, { permissions = {} }] of jobs(file)) {
      const writes = Object.keys(permissions).filter((each) => permissions[each] === 'write');
      expect([name, writes]).toEqual([name, name === 'publish' ? ['packages'] : []]);
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

describe('What is published', () => {
  const publish = steps(join(folder, 'ci.yml')).find(({ uses }) => uses?.startsWith('docker/build-push-action@'))!;

  test('is an image of each service, for both processors, with its provenance and its parts', () => {
    expect(projectsWith('docker:build')).toEqual(services().map(({ name }) => name));
    expect(publish.with).toMatchObject({
      platforms: 'linux/amd64,linux/arm64',
      provenance: 'mode=max',
      sbom: true,
      push: true,
    });
  });

  test('is built with arguments that the Dockerfile has', () => {
    const given = (publish.with!['build-args'] as string).trim().split('\n');
    const known = [...read('docker/Dockerfile').matchAll(/^ARG (\w+)/gm)].map(([, name]) => name);
    expect(given.map((line) => line.split('=')[0])).toEqual(['APP', 'VERSION', 'REVISION', 'CREATED']);
    expect(known).toEqual(expect.arrayContaining(given.map((line) => line.split('=')[0])));
  });
});

describe('.github/dependabot.yml', () => {
  test('updates packages, actions and the images of compose.yaml every week, and each in one pull request', () => {
    const { updates } = parse(read('.github/dependabot.yml')) as {
      updates: {
        'package-ecosystem': string;
        directory: string;
        schedule: object;
        groups: Record<string, { patterns: string[] }>;
      }[];
    };
    const where = updates.map((update) => [update['package-ecosystem'], update.directory]);
    expect(where).toEqual(
      expect.arrayContaining([
        ['npm', '/'],
        ['github-actions', '/'],
        ['docker-compose', '/docker'],
      ]),
    );
    for (const { directory, schedule, groups } of updates) {
      expect(existsSync(join(workspace, directory))).toBe(true);
      expect(schedule).toEqual({ interval: 'weekly' });
      expect(Object.values(groups)).toEqual([{ patterns: ['*'] }]);
    }
  });
});

test('.github/renovate.json moves the base image, whose version is an ARG of docker/Dockerfile', () => {
  const { enabledManagers } = JSON.parse(read('.github/renovate.json')) as { enabledManagers: string[] };
  expect(enabledManagers).toEqual(['dockerfile']);
  expect(read('docker/Dockerfile')).toMatch(/^ARG NODE_IMAGE=docker\.io\/library\/node:\d+\.\d+\.\d+-/m);
});
