import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { services } from '@rest-services/workspace';

const workspace = join(import.meta.dirname, '..');

interface Graph {
  nodes: Record<string, { type: 'app' | 'lib'; data: { root: string; targets: Record<string, unknown> } }>;
  dependencies: Record<string, { target: string }[]>;
}

let graph: Graph;
beforeAll(() => {
  const folder = mkdtempSync(join(tmpdir(), 'project-graph-'));
  const file = join(folder, 'graph.json');
  nx('graph', `--file=${file}`);
  ({ graph } = JSON.parse(readFileSync(file, 'utf8')) as { graph: Graph });
  rmSync(folder, { recursive: true });
});

function nx(...args: string[]) {
  return execFileSync('nx', args, { cwd: workspace, encoding: 'utf8', env: { ...process.env, NX_DAEMON: 'false' } });
}

/** Names of the workspace's projects that the files below a project's folders import. */
function importedProjects(root: string, folders: string[]) {
  const files = folders.flatMap((folder) => {
    try {
      return readdirSync(join(workspace, root, folder), { recursive: true, encoding: 'utf8' }).map((file) =>
        join(folder, file),
      );
    } catch {
      return [];
    }
  });
  const sources = files
    .filter((file) => /^(src|test|e2e|bench)\/.*\.tsx?$|^jest\.config\.mjs$/.test(file))
    .map((file) => readFileSync(join(workspace, root, file), 'utf8'));
  const names = sources.flatMap((source) =>
    [...source.matchAll(/'@rest-services\/([a-z-]+)/g)].map((match) => match[1]!),
  );
  return [...new Set(names)].sort();
}

const workspaceEdges = (project: string) =>
  graph.dependencies[project]!.map(({ target }) => target)
    .filter((target) => target in graph.nodes)
    .sort();

const isLib = (project: string) => graph.nodes[project]!.data.root.startsWith('libs/');

/** A service is an app that uses the service lib; another app is a client that a service serves. */
const isService = (project: string) => !isLib(project) && workspaceEdges(project).includes('service');

/** Whose build a project takes, without importing its code. */
const builds: Record<string, string[]> = { todos: ['todos-web'] };

/** The projects that depend on this one, directly or not, and itself. */
function usersOf(project: string): string[] {
  const direct = Object.keys(graph.nodes).filter((user) => workspaceEdges(user).includes(project));
  return [...new Set([project, ...direct.flatMap(usersOf)])].sort();
}

describe('The project graph', () => {
  test('has just the edges that the code imports and the builds that are taken, and the services have some', () => {
    for (const [project, { data }] of Object.entries(graph.nodes)) {
      const imported = importedProjects(data.root, ['.', 'src', 'test', 'e2e', 'bench']).filter(
        (name) => name !== project,
      );
      expect([project, workspaceEdges(project)]).toEqual([project, [...imported, ...(builds[project] ?? [])].sort()]);
    }
    const registered = services().map(({ name }) => name);
    const users = Object.keys(graph.nodes).filter(isService).sort();
    expect(users).toEqual(registered);
    for (const service of registered) expect(workspaceEdges(service)).toContain('database');
  });

  test('leads to libs only, but for the builds that are taken', () => {
    for (const project of Object.keys(graph.nodes)) {
      expect(workspaceEdges(project).filter((target) => !isLib(target))).toEqual(builds[project] ?? []);
    }
  });

  test('gives every project the targets lint and typecheck, every app build and serve, and every service test', () => {
    for (const [project, { data }] of Object.entries(graph.nodes)) {
      const targets = [
        ...['lint', 'typecheck'],
        ...(isLib(project) ? [] : ['build', 'serve']),
        ...(isService(project) ? ['test'] : []),
      ];
      expect([project, Object.keys(data.targets)]).toEqual([project, expect.arrayContaining(targets)]);
    }
  });
});

describe('What runs in production', () => {
  test('imports none of bench, history, testing, local-postgres and workspace', () => {
    const tools = ['bench', 'history', 'testing', 'local-postgres', 'workspace'];
    expect([usersOf('bench'), usersOf('history')]).toEqual([['bench'], ['history']]);
    for (const [project, { data }] of Object.entries(graph.nodes)) {
      if (tools.includes(project)) continue;
      expect(importedProjects(data.root, ['src']).filter((name) => tools.includes(name))).toEqual([]);
    }
  });
});

describe('nx affected', () => {
  const affected = (file: string) =>
    (JSON.parse(nx('show', 'projects', '--affected', `--files=${file}`, '--json')) as string[]).sort();

  test.each([
    'apps/items/src/app.ts',
    'apps/todos-web/src/app.tsx',
    'libs/pagination/src/index.ts',
    'libs/errors/src/http-error.ts',
  ])('picks just the project of %s and those that use it', (file) => {
    const [, project] = file.split('/') as [string, string];
    expect(affected(file)).toEqual(usersOf(project));
  });

  test('picks no project for the page that people read first', () => {
    expect(affected('README.md')).toEqual([]);
  });
});
