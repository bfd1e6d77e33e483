import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';

const workspace = join(import.meta.dirname, '../../..');

/** Environment without what Jest, Git and the Nx that run a test have set. npm uses its cache before a registry. */
export const plainEnvironment: NodeJS.ProcessEnv = {
  ...Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^(NODE_ENV|NODE_OPTIONS|(JEST|NX|npm|GIT)_.*)$/.test(name)),
  ),
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_NOSYSTEM: '1',
  ...{ GIT_AUTHOR_NAME: 'Author', GIT_AUTHOR_EMAIL: 'author@example.com' },
  ...{ GIT_COMMITTER_NAME: 'Committer', GIT_COMMITTER_EMAIL: 'committer@example.com' },
  npm_config_prefer_offline: 'true',
};

/** Runs Git in a copy. */
export const git = (copy: string, ...args: string[]) =>
  execFileSync('git', args, { cwd: copy, env: plainEnvironment, encoding: 'utf8' });

/** Names of the projects, as folders. */
export const projects = (copy: string) =>
  ['apps', 'libs'].flatMap((folder) => readdirSync(join(copy, folder)).map((to) => join(folder, to)));

/** Copies what a clone has, without anything built, as one commit on main, and links the packages that are installed. */
export function copyWorkspace(copy: string) {
  const list = git(workspace, 'ls-files', '-z', '--cached', '--others', '--exclude-standard');
  const files = list.split('\0').filter((file) => file && existsSync(join(workspace, file)));
  for (const file of files) cpSync(join(workspace, file), join(copy, file));
  linkPackages(copy, '.');
  for (const project of projects(copy)) linkPackages(copy, project);
  for (const project of projects(copy)) linkProject(copy, project);
  git(copy, 'init', '--quiet', '--initial-branch=main');
  git(copy, 'add', '.');
  git(copy, 'commit', '--quiet', '--message=all');
}

/** Links all installed packages but those of the workspace itself, which would lead out of the copy. */
function linkPackages(copy: string, project: string) {
  const packages = join(project, 'node_modules');
  if (!existsSync(join(workspace, packages))) return;
  for (const entry of readdirSync(join(workspace, packages)))
    if (entry !== '@rest-services') link(copy, join(workspace, packages, entry), join(packages, entry));
}

/** Does for a project what `npm install` does. */
export function linkProject(copy: string, project: string) {
  link(copy, join(copy, project), join('node_modules/@rest-services', project.split('/')[1]!));
}

function link(copy: string, target: string, path: string) {
  mkdirSync(join(copy, dirname(path)), { recursive: true });
  symlinkSync(target, join(copy, path));
}
