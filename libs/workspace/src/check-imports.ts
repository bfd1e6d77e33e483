// Part of `npm run lint`: compares the imports of each file with the rules between projects, and with what its package.json declares.
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createProjectFileMapUsingProjectGraph, createProjectGraphAsync, workspaceRoot } from '@nx/devkit';
import ts from 'typescript';

const SCOPE = '@rest-services/';

/** Projects that the sources of a project may import; each app that is not named here may import the libs of production. */
const allowed: Record<string, string[]> = {
  errors: [],
  concurrency: [],
  pagination: [],
  database: ['errors', 'concurrency'],
  service: ['errors', 'concurrency', 'database'],
  client: [],
  'todos-web': ['client'],
  workspace: [],
  'local-postgres': ['workspace'],
  testing: ['local-postgres', 'workspace'],
  history: ['local-postgres', 'testing'],
  bench: ['local-postgres'],
};
const production = ['errors', 'concurrency', 'pagination', 'database', 'service'];

interface Manifest {
  dependencies?: Record<string, string>;
  devDependencies?: Record<string, string>;
}

const graph = await createProjectGraphAsync({ exitOnError: true });
const filesByProject = await createProjectFileMapUsingProjectGraph(graph);
const projectOf = new Map(
  Object.entries(filesByProject).flatMap(([project, files]) => files.map(({ file }) => [file, project] as const)),
);
const rootOf = (project: string) => graph.nodes[project]!.data.root;
const isApp = (project: string) => rootOf(project).startsWith('apps/');
const isTest = (file: string) => /\/(test|e2e)\//.test(file);

/** @returns why a file of a project may not import this, or `undefined` */
function refusal(project: string, file: string, specifier: string): string | undefined {
  const path = specifier.startsWith('.') ? join(dirname(file), specifier) : undefined;
  const target = path === undefined ? /^@rest-services\/([^/]+)/.exec(specifier)?.[1] : projectOf.get(path);
  if (target === undefined) return undefined;
  if (target === project) return path && isTest(path) && !isTest(file) ? 'is a test' : undefined;
  // Tests in a project of their own test the one around them.
  if (rootOf(project).startsWith(`${rootOf(target)}/`)) return undefined;
  if (path !== undefined) return `is a file of ${target}, which has a name: ${SCOPE}${target}`;
  if (isApp(target)) return 'is an app';
  const isSource = file.startsWith(`${rootOf(project)}/src/`);
  if (isSource && !(allowed[project] ?? (isApp(project) ? production : [])).includes(target)) return 'is not allowed';
  const manifest = `${rootOf(project)}/package.json`;
  return isDeclared(join(workspaceRoot, manifest), target, isSource) ? undefined : `is not declared in ${manifest}`;
}

/** Without a declaration, Nx does not know that the project depends on the other one. */
function isDeclared(manifest: string, target: string, isSource: boolean) {
  // A project of tests has none.
  if (!existsSync(manifest)) return true;
  const { dependencies, devDependencies } = JSON.parse(readFileSync(manifest, 'utf8')) as Manifest;
  return SCOPE + target in { ...dependencies, ...(!isSource && devDependencies) };
}

for (const [file, project] of projectOf) {
  if (!/^(apps|libs|docker)\/.*\.tsx?$/.test(file)) continue;
  const { importedFiles } = ts.preProcessFile(readFileSync(join(workspaceRoot, file), 'utf8'));
  for (const { fileName } of importedFiles) {
    const reason = refusal(project, file, fileName);
    if (reason === undefined) continue;
    console.error(`${file}: ${fileName} ${reason}`);
    process.exitCode = 1;
  }
}
