import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { services } from '@rest-services/workspace';

interface Image {
  name: string;
  content: string;
  digest?: string;
}

const script = join(import.meta.dirname, '../images.ts');
const names = services().map(({ name }) => name);
const COMMIT = 'a'.repeat(40);
const DIGEST = createHash('sha256').update('manifest').digest('hex');
const REPOSITORY = 'docker://ghcr.io/owner/rest-services';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'images-test-'));
  write('docker/Dockerfile', 'FROM scratch');
  for (const name of names) write(`apps/${name}/dist/main.js`, `// ${name}`);
  // Each records its arguments. `skopeo inspect` knows the images whose names stand in the file `published`.
  write('bin/gh', '#!/bin/sh\ncat head\n');
  write(
    'bin/skopeo',
    `#!/bin/sh
case $1 in
list-tags) cat tags ;;
inspect) grep --quiet --line-regexp --fixed-strings "$3" published && printf manifest ;;
*) echo "skopeo $*" >>calls ;;
esac
`,
  );
  write('published', '');
  write('tags', JSON.stringify({ Tags: [] }));
  write('head', COMMIT);
});
afterEach(() => rmSync(folder, { recursive: true }));

function write(file: string, content: string) {
  mkdirSync(dirname(join(folder, file)), { recursive: true });
  writeFileSync(join(folder, file), content, { mode: 0o755 });
}

const read = (file: string) => readFileSync(join(folder, file), 'utf8');

/** @returns what the command writes, and the calls that it makes */
function run(command: string, images?: Image[], tag = '') {
  write('calls', '');
  const output = execFileSync(process.execPath, [script, command], {
    cwd: folder,
    encoding: 'utf8',
    stdio: 'pipe',
    env: {
      PATH: [join(folder, 'bin'), process.env.PATH].join(delimiter),
      GITHUB_REPOSITORY: 'Owner/rest-services',
      GITHUB_SHA: COMMIT,
      GITHUB_REF_NAME: tag,
      IMAGES: JSON.stringify(images),
    },
  });
  return { output, calls: read('calls').trim().split('\n') };
}

function list() {
  const { output } = run('list');
  const lines = output.trim().split('\n');
  const [images, changed] = lines.map((line) => JSON.parse(line.slice(line.indexOf('=') + 1)) as unknown);
  return { images: images as Image[], changed };
}

/** Marks the images as published. */
function markPublished(images: Image[]) {
  write('published', images.map(({ name, content }) => `${REPOSITORY}/${name}:${content}\n`).join(''));
}

test('list names the services, and those without a published image of their content', () => {
  const { images, changed } = list();
  expect(images.map(({ name }) => name)).toEqual(names);
  expect(changed).toEqual(names);
  markPublished(images);
  // A report of the build, which no image holds.
  write('apps/items/dist/metafile.json', '{}');
  expect(list()).toEqual({ images: images.map((image) => ({ ...image, digest: `sha256:${DIGEST}` })), changed: [] });
  write('apps/items/dist/public/index.html', 'new');
  expect(list().changed).toEqual(['items']);
  write('docker/Dockerfile', 'FROM node');
  expect(list().changed).toEqual(names);
});

const copy = (from: string, to: string) => `skopeo copy --all --preserve-digests ${from} ${REPOSITORY}/${to}`;

describe('With an image that is new and one that has not changed,', () => {
  const images = [
    { name: 'items', content: 'content-1' },
    { name: 'todos', content: 'content-2', digest: 'sha256:2' },
  ];
  const sources = ['oci-archive:images/items.tar', `${REPOSITORY}/todos@sha256:2`];
  beforeEach(() => write('images/items.tar', ''));

  test('publish tags both with the commit, moves latest, and lists what to attest', () => {
    write('published', `${REPOSITORY}/items:${COMMIT}\n`);
    const tags = [
      copy(sources[0]!, `items:${COMMIT}`),
      copy(sources[1]!, `todos:${COMMIT}`),
      copy(`${REPOSITORY}/items:${COMMIT}`, 'items:content-1'),
      copy(`${REPOSITORY}/todos:${COMMIT}`, 'todos:content-2'),
    ];
    const latest = ['items', 'todos'].map((name) => copy(`${REPOSITORY}/${name}:${COMMIT}`, `${name}:latest`));
    expect(run('publish', images).calls).toEqual([...tags, ...latest]);
    expect(read('images/checksums.txt')).toBe(`${DIGEST}  ghcr.io/owner/rest-services/items\n`);
    write('head', 'b'.repeat(40));
    expect(run('publish', images).calls).toEqual(tags);
  });
});

describe('release', () => {
  const release = (version: string, ...published: string[]) => {
    write('apps/items/package.json', JSON.stringify({ version }));
    write('tags', JSON.stringify({ Tags: ['latest', COMMIT, '1', '1.4', ...published, version] }));
    return run('release', undefined, `items@${version}`).calls;
  };
  const tagged = (version: string, ...lines: string[]) => [
    copy(`${REPOSITORY}/items:${COMMIT}`, `items:${version}`),
    ...lines.map((line) => copy(`${REPOSITORY}/items:${version}`, `items:${line}`)),
  ];

  test('tags the image of the commit 1.4.2, and 1.4 and 1 unless a newer one has them', () => {
    expect(release('1.4.2')).toEqual(tagged('1.4.2', '1.4', '1'));
    expect(release('1.10.0', '1.9.3', '2.0.0')).toEqual(tagged('1.10.0', '1.10', '1'));
    expect(release('1.4.3', '1.4.2', '1.10.0')).toEqual(tagged('1.4.3', '1.4'));
    expect(release('1.4.2', '1.4.10')).toEqual(tagged('1.4.2'));
  });

  test('refuses a git tag that does not name the version of a service', () => {
    for (const name of names) write(`apps/${name}/package.json`, JSON.stringify({ version: '1.4.2' }));
    for (const tag of ['items@1.4.1', 'client@1.4.2', 'items@1.4.2.1']) {
      expect(() => run('release', undefined, tag)).toThrow(`${tag} is no service with the version`);
      expect(read('calls')).toBe('');
    }
  });
});
