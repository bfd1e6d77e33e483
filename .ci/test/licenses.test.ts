import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { services } from '@rest-services/workspace';

const workspace = join(import.meta.dirname, '../..');
const read = (...path: string[]) => readFileSync(join(workspace, ...path), 'utf8');

interface Manifest {
  name: string;
  version: string;
  devDependencies: Record<string, string>;
}

/** A sentence of each licence that there is: MIT, ISC, BSD, Apache, Blue Oak. */
const LICENSE_TEXT =
  /Permission is hereby granted|Permission to use, copy, modify|Redistribution and use|TERMS AND CONDITIONS|Blue Oak/;

const others = ['preact', 'openapi-fetch', '@rest-services/local-postgres'];

describe.each(services())('Of each package in the bundle of $name,', ({ name, client }) => {
  const { inputs } = JSON.parse(read('apps', name, 'dist/metafile.json')) as { inputs: object };
  const files = Object.keys(inputs).map((file) => join('apps', name, file));
  const folders = files.flatMap((file) => /.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file) ?? []);
  const manifests = Array.from(new Set(folders), (folder) => JSON.parse(read(folder, 'package.json')) as Manifest);

  test('licenses.txt holds the licence text', () => {
    expect(manifests.length).toBeGreaterThan(50);
    const sections = read('apps', name, 'dist/licenses.txt')
      .split(/^-{80}$/m)
      .map((section) => section.trim());
    for (const wanted of [...manifests.map(({ name, version }) => `${name} ${version} (`), 'swagger-ui-dist ']) {
      const found = sections.filter((section) => section.startsWith(wanted));
      expect([wanted, found]).toEqual([wanted, [expect.stringMatching(LICENSE_TEXT)]]);
    }
    expect(sections[0]).toBe(read('LICENSE').trim());
  });

  test('the SBOM of the image holds name and version, and those of its pages', () => {
    const { components } = JSON.parse(read('dist', name, 'sbom.cdx.json')) as { components: { purl: string }[] };
    const listed = components.map(({ purl }) => decodeURIComponent(purl.replace('pkg:npm/', '')));
    expect(listed).toEqual(expect.arrayContaining(manifests.map(({ name, version }) => `${name}@${version}`)));
    const listedOthers = others.filter((each) => listed.some((entry) => entry.startsWith(`${each}@`)));
    expect(listedOthers).toEqual(client ? ['preact', 'openapi-fetch'] : []);
  });
});

test('The licences of the page at /docs are those of its version', () => {
  const { devDependencies } = JSON.parse(read('node_modules/@fastify/swagger-ui/package.json')) as Manifest;
  expect(read('libs/service/swagger-ui-licenses.txt')).toMatch(
    `swagger-ui-dist ${devDependencies['swagger-ui-dist']},`,
  );
});
