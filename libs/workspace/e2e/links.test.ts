import { execFileSync } from 'node:child_process';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from '@jest/globals';
import { services } from '@rest-services/workspace';
import { plainEnvironment } from './copy.ts';

const workspace = join(import.meta.dirname, '../../..');
const pages = globSync('{*,{.github,apps,docker,libs}/**/*}.md', {
  cwd: workspace,
  exclude: (path) => /(^|\/)(node_modules|dist)$/.test(path),
});

const read = (file: string) => readFileSync(join(workspace, file), 'utf8');
const withoutCode = (text: string) => text.replaceAll(/^ *```.*?^ *```/gms, '');

/** Anchors that GitHub gives to the headings of a page. */
function anchorsOf(page: string) {
  const headings = withoutCode(read(page)).matchAll(/^#+ (.+)$/gm);
  return Array.from(headings, ([, heading]) =>
    heading!
      .toLowerCase()
      .replaceAll(/[^\w\- ]/g, '')
      .replaceAll(' ', '-'),
  );
}

test('links between documents lead to files and headings that exist', () => {
  const broken = pages.flatMap((page) => {
    const links = withoutCode(read(page)).matchAll(/\]\((?!\w+:)([^)\s]+)\)/g);
    return Array.from(links, ([, link]) => link!).flatMap((link) => {
      const [path, anchor] = link.split('#');
      const target = path ? join(dirname(page), path) : page;
      const leads = existsSync(join(workspace, target)) && (!anchor || anchorsOf(target).includes(anchor));
      return leads ? [] : `${page}: ${link}`;
    });
  });
  expect(broken).toEqual([]);
  expect(pages.length).toBeGreaterThan(20);
});

/** Nx's own commands, and those of the service that CONTRIBUTING.md makes. */
const OTHERS = /^npx nx (affected|release|run-many) | notes$/;

test('scripts of npm and targets of projects that documents name exist', () => {
  const { scripts } = JSON.parse(read('package.json')) as { scripts: object };
  const options = { cwd: workspace, env: plainEnvironment, encoding: 'utf8' } as const;
  const { graph } = JSON.parse(execFileSync('npx', ['nx', 'graph', '--print'], options)) as {
    graph: { nodes: Record<string, { data: { targets: object } }> };
  };
  const targets = Object.entries(graph.nodes).flatMap(([project, { data }]) =>
    Object.keys(data.targets).map((target) => `npx nx ${target} ${project}`),
  );
  const starts = services().map(({ name }) => `npm start -- ${name}`);
  const known = [...targets, ...starts, ...Object.keys(scripts).map((script) => `npm run ${script}`)];
  const named = pages.flatMap(
    (page) => read(page).match(/\b(npm run [\w:-]+|npm start -- [\w-]+|npx nx [\w:-]+ [\w-]+)/g) ?? [],
  );
  expect(named.filter((command) => !known.includes(command) && !OTHERS.test(command))).toEqual([]);
  expect(named.length).toBeGreaterThan(20);
});
