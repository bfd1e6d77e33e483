import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Metafile } from 'esbuild';

const workspace = join(import.meta.dirname, '..', '..');

const LICENSE_FILE = /^(licen[cs]e|copying|notice)/i;

/** The licences of the workspace, of each package that esbuild has bundled, and of the page at /docs, which is copied. */
export async function licensesOf({ inputs }: Metafile) {
  const folders = Object.keys(inputs).flatMap((file) => /.*node_modules\/(@[^/]+\/)?[^/]+/.exec(file)?.[0] ?? []);
  const packages = await Promise.all(Array.from(new Set(folders), describePackage));
  const own = await readFile(join(workspace, 'LICENSE'), 'utf8');
  const page = await readFile(join(import.meta.dirname, 'swagger-ui-licenses.txt'), 'utf8');
  const sections = [own, ...[...new Set(packages)].sort(), page].map((text) => text.trim());
  return `${sections.join(`\n\n${'-'.repeat(80)}\n\n`)}\n`;
}

interface Manifest {
  name: string;
  version: string;
  license: string;
  author?: string | { name: string };
}

/** @throws Error when the package has no licence text */
async function describePackage(folder: string) {
  const manifest = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')) as Manifest;
  const entries = await readdir(folder, { withFileTypes: true });
  const names = entries.filter((entry) => entry.isFile()).map(({ name }) => name);
  const files = names.filter((name) => LICENSE_FILE.test(name));
  const texts = await Promise.all(files.map((name) => readFile(join(folder, name), 'utf8')));
  const text = texts.join('\n\n').trim() || (await licenseInReadme(folder, names, manifest));
  return `${manifest.name} ${manifest.version} (${manifest.license})\n\n${text}`;
}

/** The last part of a README, with the text of the MIT licence where it only links to that. */
async function licenseInReadme(folder: string, names: string[], { name, license, author }: Manifest) {
  const readme = await readFile(join(folder, names.find((file) => /^readme/i.test(file)) ?? 'README.md'), 'utf8');
  const [section] = /^#+ licen[cs]e.*/ims.exec(readme) ?? [];
  if (section?.includes('Permission is hereby granted')) return section;
  if (license !== 'MIT') throw new Error(`${name} has no licence text`);
  const mit = await readFile(join(workspace, 'LICENSE'), 'utf8');
  return mit.replace(/^Copyright .*/m, `Copyright (c) ${typeof author === 'object' ? author.name : author}`);
}
