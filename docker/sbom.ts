// Writes the list of the packages that a service's image can hold, as CycloneDX JSON: node docker/sbom.ts APP
// The base image is not in it: a scanner finds Node and Debian in the image itself.
import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

interface Manifest {
  devDependencies?: object;
  nx?: { implicitDependencies?: string[] };
}

const workspace = join(import.meta.dirname, '..');
const readJson = async (path: string) => JSON.parse(await readFile(join(workspace, path), 'utf8')) as unknown;

const app = process.argv[2];
if (!app) throw new Error('usage: node docker/sbom.ts APP');

// What a service takes the build of, such as its web client, goes into its image too.
const service = (await readJson(`apps/${app}/package.json`)) as Manifest;
const apps = [app, ...(service.nx?.implicitDependencies ?? [])];

// `npm sbom --omit dev` leaves out what is needed in production as soon as anything needs it for development too
// (https://github.com/npm/cli/issues/7909): pg, for one. So npm is given a copy that knows of no development. The lockfile
// holds all that npm reads in the package.json of each project.
const lock = (await readJson('package-lock.json')) as { packages: Record<string, Manifest> };
const projects = Object.keys(lock.packages).filter((path) => !path.includes('node_modules'));
for (const entry of Object.values(lock.packages)) delete entry.devDependencies;

const temporary = await mkdtemp(join(tmpdir(), 'sbom-'));
try {
  // npm names what the list is about after this folder, and takes every project for chosen when it has one's name.
  const folder = join(temporary, `rest-services-${app}`);
  await mkdir(folder);
  await writeFile(join(folder, 'package-lock.json'), JSON.stringify(lock));
  for (const project of projects) {
    await mkdir(join(folder, project), { recursive: true });
    const manifest = { ...lock.packages[project], private: true };
    await writeFile(join(folder, project, 'package.json'), JSON.stringify(manifest));
  }
  const chosen = apps.map((name) => `--workspace=apps/${name}`);
  const options = ['--sbom-format=cyclonedx', '--sbom-type=application', '--package-lock-only', ...chosen];
  const output = join(workspace, 'dist', app);
  await mkdir(output, { recursive: true });
  await writeFile(join(output, 'sbom.cdx.json'), execFileSync('npm', ['sbom', ...options], { cwd: folder }));
} finally {
  await rm(temporary, { recursive: true });
}
