// Which images a commit needs, and where they go. The workflows in .github run these commands:
//   node .ci/images.ts list     each image with the digest of a published one of the same content, for $GITHUB_OUTPUT
//   node .ci/images.ts load     both platforms of each image into Docker, as rest-services/NAME:latest and :arm64
//   node .ci/images.ts publish  each image as :COMMIT, and as :latest when the commit is the head of main; checksums of the new ones
//   node .ci/images.ts release  the image that the git tag NAME@1.4.2 names as :1.4.2, and as :1.4 and :1 when none of these is newer
// New images are OCI archives in images/. Skopeo copies them byte for byte, so the published digest is the tested one.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { services } from '../libs/workspace/src/index.ts';

interface Image {
  name: string;
  /** Tag that says what the image holds. */
  content: string;
  /** Digest of the published image of the same content. */
  digest?: string;
}

const commands: Record<string, () => void> = { list, load, publish, release };
const command = commands[process.argv[2] ?? ''];
if (!command) throw new Error(`usage: node .ci/images.ts ${Object.keys(commands).join('|')}`);
command();

function list() {
  const images = services().map(({ name }) => {
    const content = contentTag(name);
    return { name, content, digest: publishedDigest(`${repository(name)}:${content}`) };
  });
  const changed = images.filter(({ digest }) => !digest).map(({ name }) => name);
  console.log(`images=${JSON.stringify(images)}`);
  console.log(`changed=${JSON.stringify(changed)}`);
}

function load() {
  for (const image of readImages()) {
    for (const [architecture, tag] of [
      ['amd64', 'latest'],
      ['arm64', 'arm64'],
    ] as const) {
      const file = `${image.name}-${architecture}.tar`;
      const target = `docker-archive:${file}:rest-services/${image.name}:${tag}`;
      run('skopeo', `--override-arch=${architecture}`, 'copy', source(image), target);
      run('docker', 'load', '--input', file);
      rmSync(file);
    }
  }
}

function publish() {
  const images = readImages();
  const commit = setting('GITHUB_SHA');
  for (const image of images) copy(source(image), `${repository(image.name)}:${commit}`);
  for (const { name, content } of images) retag(name, commit, content);
  const published = images.filter(isNew).map(({ name }) => `${repository(name)}:${commit}`);
  writeFileSync('images/checksums.txt', published.map(checksumLine).join(''));
  const head = run('gh', 'api', `repos/${setting('GITHUB_REPOSITORY')}/commits/main`, '--jq', '.sha').trim();
  if (head === commit) for (const { name } of images) retag(name, commit, 'latest');
}

function release() {
  const tag = setting('GITHUB_REF_NAME');
  const service = services().find(({ name }) => tag === `${name}@${versionOf(name)}`);
  if (!service) throw new Error(`${tag} is no service with the version in its package.json`);
  const { name } = service;
  const version = versionOf(name);
  retag(name, setting('GITHUB_SHA'), version);
  const { Tags: tags } = JSON.parse(run('skopeo', 'list-tags', repository(name))) as { Tags: string[] };
  const versions = tags.filter((tag) => /^\d+\.\d+\.\d+$/.test(tag));
  const [major, minor] = version.split('.');
  for (const line of [`${major}.${minor}`, `${major}`]) {
    const isNewer = (other: string) => other.startsWith(`${line}.`) && compareNumbers(other, version) > 0;
    if (!versions.some(isNewer)) retag(name, version, line);
  }
}

function versionOf(name: string) {
  return (JSON.parse(readFileSync(join('apps', name, 'package.json'), 'utf8')) as { version: string }).version;
}

function compareNumbers(a: string, b: string) {
  return a.localeCompare(b, 'en', { numeric: true });
}

/** A line as sha256sum writes it, of an image in the registry. */
function checksumLine(image: string) {
  const digest = publishedDigest(image);
  if (!digest) throw new Error(`${image} is not published`);
  return `${digest.replace('sha256:', '')}  ${image.replace(/^docker:\/\/|:[^:]*$/g, '')}\n`;
}

/** Hashes what the Dockerfile puts into the image of a service. A dependency of development is not part of it. */
function contentTag(name: string) {
  const dist = join('apps', name, 'dist');
  const built = readdirSync(dist, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((file) => ![join(dist, 'metafile.json'), join(dist, 'package.json')].includes(file));
  const hash = createHash('sha256');
  for (const file of ['docker/Dockerfile', ...built.sort()]) {
    const content = readFileSync(file);
    hash.update(`${file} ${content.length}\n`).update(content);
  }
  return `content-${hash.digest('hex')}`;
}

/** Reads the digest of a published image, or `undefined` when there is none or the registry refuses. */
function publishedDigest(image: string) {
  try {
    return `sha256:${createHash('sha256')
      .update(run('skopeo', 'inspect', '--raw', image))
      .digest('hex')}`;
  } catch {
    return undefined;
  }
}

function isNew({ name }: Image) {
  return existsSync(archiveOf(name));
}

function archiveOf(name: string) {
  return `images/${name}.tar`;
}

function source(image: Image) {
  const { name, digest } = image;
  if (isNew(image)) return `oci-archive:${archiveOf(name)}`;
  if (!digest) throw new Error(`No archive and no published image of ${name}`);
  return `${repository(name)}@${digest}`;
}

function retag(name: string, from: string, to: string) {
  copy(`${repository(name)}:${from}`, `${repository(name)}:${to}`);
}

/** Copies an image with all of its platforms, its provenance and its SBOM. */
function copy(from: string, to: string) {
  run('skopeo', 'copy', '--all', '--preserve-digests', from, to);
}

function readImages() {
  return JSON.parse(setting('IMAGES')) as Image[];
}

/** Names are in lower case in a registry, and may not be on GitHub. */
function repository(name: string) {
  return `docker://ghcr.io/${setting('GITHUB_REPOSITORY').toLowerCase()}/${name}`;
}

function setting(name: string) {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is not set`);
  return value;
}

function run(program: string, ...args: string[]) {
  return execFileSync(program, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });
}
