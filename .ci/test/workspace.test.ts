import { execFileSync } from 'node:child_process';
import { globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { services } from '@rest-services/workspace';

const workspace = join(import.meta.dirname, '../..');

interface Graph {
  nodes: Record<string, { data: { root: string; targets: Record<string, unknown> } }>;
  dependencies: Record<string, { target: string }[]>;
}

let graph: Graph;
/** The apps and libs. Nx itself finds what the project of this test imports. */
let projects: string[];
beforeAll(() => {
  const folder = mkdtempSync(join(tmpdir(), 'project-graph-'));
  const file = join(folder, 'graph.json');
  execFileSync('nx', ['graph', `--file=${file}`], { cwd: workspace, env: { ...process.env, NX_DAEMON: 'false' } });
  ({ graph } = JSON.parse(readFileSync(file, 'utf8')) as { graph: Graph });
  rmSync(folder, { recursive: true });
  projects = Object.keys(graph.nodes).filter((project) => project !== 'ci');
});

const rootOf = (project: string) => graph.nodes[project]!.data.root;
const isApp = (project: string) => rootOf(project).startsWith('apps/');

/** Names of the other projects that the files of a project import. */
function importedProjects(project: string) {
  const cwd = join(workspace, rootOf(project));
  const files = globSync(['{src,test,e2e,bench}/**/*.{ts,tsx}', 'jest.config.mjs'], { cwd });
  const names = files
    .map((file) => readFileSync(join(cwd, file), 'utf8'))
    .flatMap((source) => Array.from(source.matchAll(/'@rest-services\/([a-z-]+)/g), ([, name]) => name!));
  return [...new Set(names)].filter((name) => name !== project);
}

const edges = (project: string) =>
  graph.dependencies[project]!.map(({ target }) => target).filter((target) => target in graph.nodes);

/** A service is an app that uses the service lib; another app is a client that a service serves. */
const isService = (project: string) => isApp(project) && edges(project).includes('service');

/** Whose build a project takes, without importing its code. */
const builds: Record<string, string[]> = { history: ['items'], todos: ['todos-web'] };

describe('The project graph', () => {
  test('has just the edges that the code imports and the builds that are taken', () => {
    expect(projects.filter((project) => edges(project).length > 0).length).toBeGreaterThan(5);
    for (const project of projects) {
      const expected = [...importedProjects(project), ...(builds[project] ?? [])];
      expect([project, edges(project).sort()]).toEqual([project, expected.sort()]);
    }
  });

  test('leads to libs only, but for the builds that are taken', () => {
    for (const project of projects) expect(edges(project).filter(isApp)).toEqual(builds[project] ?? []);
  });

  test('has the registered services, which use the database, and can be tested, built and served', () => {
    const registered = services().map(({ name }) => name);
    expect(projects.filter(isService).sort()).toEqual(registered);
    for (const service of registered) {
      expect(edges(service)).toContain('database');
      expect(Object.keys(graph.nodes[service]!.data.targets)).toEqual(
        expect.arrayContaining(['test', 'build', 'serve']),
      );
    }
  });
});
