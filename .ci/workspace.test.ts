import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from '@jest/globals';

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
    .filter((file) => /^(src|test|bench)\/.*\.tsx?$|^jest\.config\.mjs$/.test(file))
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

/** The projects that depend on this one, directly or not, and itself. */
function usersOf(project: string): string[] {
  const direct = Object.keys(graph.nodes).filter((user) => workspaceEdges(user).includes(project));
  return [...new Set([project, ...direct.flatMap(usersOf)])].sort();
}

describe('The project graph', () => {
  test('has just the edges that the code imports, and the apps have some', () => {
    for (const [project, { data }] of Object.entries(graph.nodes)) {
      expect([project, workspaceEdges(project)]).toEqual([
        project,
        importedProjects(data.root, ['.', 'src', 'test', 'bench']).filter((name) => name !== project),
      ]);
      if (!isLib(project)) expect(workspaceEdges(project)).toEqual(expect.arrayContaining(['database', 'service']));
    }
  });

  test('leads from apps to libs only', () => {
    const targets = Object.keys(graph.nodes).flatMap(workspaceEdges);
    expect(targets.filter((target) => !isLib(target))).toEqual([]);
  });

  test('gives every project the targets lint and typecheck, and every app test, build and serve', () => {
    for (const [project, { data }] of Object.entries(graph.nodes)) {
      const targets = ['lint', 'typecheck', ...(isLib(project) ? [] : ['test', 'build', 'serve'])];
      expect([project, Object.keys(data.targets)]).toEqual([project, expect.arrayContaining(targets)]);
    }
  });
});

describe('What runs in production', () => {
  test('does not import local-postgres', () => {
    for (const { data } of Object.values(graph.nodes)) {
      expect(importedProjects(data.root, ['src'])).not.toContain('local-postgres');
    }
  });
});

describe('nx affected', () => {
  const affected = (file: string) =>
    (JSON.parse(nx('show', 'projects', '--affected', `--files=${file}`, '--json')) as string[]).sort();

  test.each(['apps/items/src/app.ts', 'libs/pagination/src/index.ts', 'libs/errors/src/http-error.ts'])(
    'picks just the project of %s and those that use it',
    (file) => {
      const [, project] = file.split('/') as [string, string];
      expect(affected(file)).toEqual(usersOf(project));
    },
  );

  test('picks no project for the page that people read first', () => {
    expect(affected('README.md')).toEqual([]);
  });
});
