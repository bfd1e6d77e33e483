import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { services } from '@rest-services/workspace';
import { build } from 'esbuild';
import { licensesOf } from '../libs/service/licenses.ts';

const workspace = join(import.meta.dirname, '..');

interface Manifest {
  name: string;
  version: string;
  devDependencies: Record<string, string>;
}

const manifestOf = (folder: string) =>
  JSON.parse(readFileSync(join(workspace, folder, 'package.json'), 'utf8')) as Manifest;

/** A sentence of each licence that there is: MIT, ISC, BSD, Apache, Blue Oak. */
const LICENSE_TEXT =
  /Permission is hereby granted|Permission to use, copy, modify|Redistribution and use|TERMS AND CONDITIONS|Blue Oak/;

describe.each(services())('The licenses.txt of $name', ({ name: app }) => {
  test('holds the licence text of each package in the bundle, and of the page at /docs', async () => {
    const { metafile } = await build({
      entryPoints: [`apps/${app}/src/main.ts`],
      absWorkingDir: workspace,
      bundle: true,
      platform: 'node',
      external: ['pg-native', 'supports-color'],
      write: false,
      outdir: 'dist',
      metafile: true,
      logLevel: 'error',
    });
    const sections = (await licensesOf(metafile)).split(/^-{80}$/m).map((section) => section.trim());
    const folders = Object.keys(metafile.inputs).flatMap(
      (file) => /.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file) ?? [],
    );
    const manifests = [...new Set(folders)].map(manifestOf);
    const packages = new Set(manifests.map(({ name, version }) => `${name} ${version} (`));
    expect(packages.size).toBeGreaterThan(50);
    for (const wanted of [...packages, 'swagger-ui-dist ']) {
      const found = sections.filter((section) => section.startsWith(wanted));
      expect([wanted, found]).toEqual([wanted, [expect.stringMatching(LICENSE_TEXT)]]);
    }
    expect(sections[0]).toBe(readFileSync(join(workspace, 'LICENSE'), 'utf8').trim());
  });
});

test('The licences of the page at /docs are those of its version', () => {
  const { devDependencies } = manifestOf('node_modules/@fastify/swagger-ui');
  const licenses = readFileSync(join(workspace, 'libs/service/swagger-ui-licenses.txt'), 'utf8');
  expect(licenses).toMatch(`swagger-ui-dist ${devDependencies['swagger-ui-dist']},`);
});
