import { execFileSync } from 'node:child_process';
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';

const workspace = join(import.meta.dirname, '../../..');

interface Graph {
  nodes: Record<string, { data: { root: string } }>;
  dependencies: Record<string, { target: string }[]>;
}

/** Names of the other projects that the files of a project import. */
function importedProjects(project: string, root: string) {
  const cwd = join(workspace, root);
  // A folder e2e may be a project of its own.
  const folders = existsSync(join(cwd, 'e2e/project.json')) ? 'src,test' : 'src,test,e2e,bench';
  const files = globSync([`{${folders}}/**/*.{ts,tsx}`, 'jest.config.mjs'], { cwd });
  const names = files
    .map((file) => readFileSync(join(cwd, file), 'utf8'))
    .flatMap((source) => Array.from(source.matchAll(/'@rest-services\/([a-z-]+)/g), ([, name]) => name!));
  return [...new Set(names)].filter((name) => name !== project);
}

/** Whose build a project takes, without importing its code. */
const builds: Record<string, string[]> = { history: ['items'], todos: ['todos-web'] };

test('The project graph has the edges that the code imports and builds that are taken', () => {
  const folder = mkdtempSync(join(tmpdir(), 'project-graph-'));
  const file = join(folder, 'graph.json');
  execFileSync('nx', ['graph', `--file=${file}`], { cwd: workspace, env: { ...process.env, NX_DAEMON: 'false' } });
  const { graph } = JSON.parse(readFileSync(file, 'utf8')) as { graph: Graph };
  rmSync(folder, { recursive: true });
  // Nx itself finds what the project of this test imports.
  const { ci, 'workspace-e2e': own, ...projects } = graph.nodes;
  expect(ci ?? own).toBeDefined();
  for (const [project, { data }] of Object.entries(projects)) {
    const edges = graph.dependencies[project]!.map(({ target }) => target).filter((target) => target in graph.nodes);
    const expected = [...importedProjects(project, data.root), ...(builds[project] ?? [])];
    expect([project, edges.sort()]).toEqual([project, expected.sort()]);
  }
});
