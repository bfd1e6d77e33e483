import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, symlinkSync } from 'node:fs';
import { basename, join } from 'node:path';

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

/**
 * Copies what a clone has, without anything built, as one commit on main, and links the packages that are installed. A test builds in a
 * copy, because other tests read what is built in the workspace.
 */
export function copyWorkspace(copy: string) {
  const list = git(workspace, 'ls-files', '-z', '--cached', '--others', '--exclude-standard');
  const files = list.split('\0').filter((file) => file && existsSync(join(workspace, file)));
  for (const file of files) cpSync(join(workspace, file), join(copy, file));
  const projects = ['apps', 'libs'].flatMap((folder) => readdirSync(join(copy, folder)).map((to) => join(folder, to)));
  for (const project of ['.', ...projects]) linkPackages(join(workspace, project), join(copy, project));
  mkdirSync(join(copy, 'node_modules/@rest-services'));
  for (const project of projects)
    symlinkSync(join(copy, project), join(copy, 'node_modules/@rest-services', basename(project)));
  git(copy, 'init', '--quiet', '--initial-branch=main');
  git(copy, 'add', '.');
  git(copy, 'commit', '--quiet', '--message=all');
}

/** Links all installed packages but those of the workspace itself, which would lead out of the copy. */
function linkPackages(from: string, to: string) {
  if (!existsSync(join(from, 'node_modules'))) return;
  mkdirSync(join(to, 'node_modules'));
  for (const entry of readdirSync(join(from, 'node_modules')))
    if (entry !== '@rest-services') symlinkSync(join(from, 'node_modules', entry), join(to, 'node_modules', entry));
}
