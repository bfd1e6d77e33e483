import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from '@jest/globals';

const workspace = join(import.meta.dirname, '../../..');
const pages = globSync('{*,{.github,apps,docker,libs}/**/*}.md', {
  cwd: workspace,
  exclude: (path) => /(^|\/)(node_modules|dist)$/.test(path),
});

const withoutCode = (text: string) => text.replaceAll(/^ *```.*?^ *```/gms, '');

/** Anchors that GitHub gives to the headings of a page. */
function anchorsOf(page: string) {
  const headings = withoutCode(readFileSync(join(workspace, page), 'utf8')).matchAll(/^#+ (.+)$/gm);
  return Array.from(headings, ([, heading]) =>
    heading!
      .toLowerCase()
      .replaceAll(/[^\w\- ]/g, '')
      .replaceAll(' ', '-'),
  );
}

test('links between documents lead to files and headings that exist', () => {
  const broken = pages.flatMap((page) => {
    const links = withoutCode(readFileSync(join(workspace, page), 'utf8')).matchAll(/\]\((?!\w+:)([^)\s]+)\)/g);
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
