import { spawn } from 'node:child_process';
import { on } from 'node:events';
import { chmod, cp, mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createTestDatabase, freePort, type TestDatabase } from '@rest-services/local-postgres';
import { services } from '@rest-services/workspace';

// The images as they run in production: not as root, on a read-only file system, in 256 MB. test-containers.sh starts this.

/** The part of a service's document that says what its smallest record is. */
interface OpenApiDocument {
  paths: Record<string, { post: { requestBody: { content: { 'application/json': { schema: { $ref: string } } } } } }>;
  components: { schemas: Record<string, { examples: [Record<string, unknown>] }> };
}

const workspace = join(import.meta.dirname, '..');

const words = (variable: string) => process.env[variable]?.split(' ').filter(Boolean) ?? [];
const [engine, ...engineArguments] = words('CONTAINER_ENGINE') as [string, ...string[]];
const run = [
  ...['run', '--rm', '--label', process.env.CONTAINER_LABEL!, '--network', 'host', '--memory', '256m'],
  ...['--read-only', '--cap-drop', 'ALL', '--security-opt', 'no-new-privileges'],
  ...words('CONTAINER_RUN_ARGS'),
];

/** A command of the container engine, and the lines that it writes. */
function start(...args: string[]) {
  const child = spawn(engine, [...engineArguments, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  const output = createInterface({ input: child.stdout });
  const lines: string[] = [];
  output.on('line', (line) => lines.push(line));
  const errors = text(child.stderr);
  const ended = new Promise<number | null>((resolve) => child.on('close', resolve)).then(async (code) => ({
    code,
    lines,
    errors: await errors,
  }));

  /** @throws Error when the command ends without such a line */
  async function line(pattern: RegExp): Promise<string> {
    const found = () => lines.find((candidate) => pattern.test(candidate));
    const more = on(output, 'line');
    const atEnd = ended.then(() => ({ done: true }));
    while (found() === undefined && !(await Promise.race([more.next(), atEnd])).done);
    void more.return?.();
    return found() ?? Promise.reject(new Error(`ended without ${pattern}: ${JSON.stringify(await ended)}`));
  }
  return { line, lines, ended };
}

/** @throws Error with what the command wrote when it ends with another code than 0 */
async function succeed(...args: string[]) {
  const { code, lines, errors } = await start(...args).ended;
  if (code !== 0) throw new Error(`${args.join(' ')} ended with code ${code}: ${lines.join('\n')}${errors}`);
  return lines.join('\n');
}

const readJson = async (...path: string[]) =>
  JSON.parse(await readFile(join(workspace, ...path), 'utf8')) as Record<string, unknown>;

describe.each(services())('The image of $name', ({ name: app, path, client }) => {
  const image = `rest-services/${app}:latest`;
  const name = `rest-services-test-${app}-${process.pid}`;
  let database: TestDatabase;
  let folder: string;
  let url: string;
  let environment: string[];
  let service: ReturnType<typeof start>;

  beforeAll(async () => {
    database = await createTestDatabase();
    folder = await mkdtemp(join(tmpdir(), 'secrets-'));
    await writeFile(join(folder, 'database-url'), database.url);
    const port = await freePort();
    url = `http://127.0.0.1:${port}`;
    environment = [
      ...['--env', 'HOST=127.0.0.1', '--env', `PORT=${port}`],
      ...['--env', 'DATABASE_URL_FILE=/run/secrets/database-url', '--env', 'MIGRATE_ON_START=false'],
      ...['--volume', `${join(folder, 'database-url')}:/run/secrets/database-url:ro`],
    ];
    // As an update does it: first the job that migrates, then the service, which does not.
    await succeed(...run, ...environment, image, 'node', 'main.js', 'migrate');
    service = start(...run, '--name', name, ...environment, image);
    await service.line(/Server listening/);
  });

  afterAll(async () => {
    await start('rm', '--force', name).ended;
    await service.ended;
    await rm(folder, { recursive: true });
    await database.drop();
  });

  /** Runs a script in the running container. @returns what it writes, which is JSON */
  const inside = async (script: string) =>
    JSON.parse(await succeed('exec', name, 'node', '--print', `JSON.stringify((${script})())`)) as unknown;

  test('is alive, and ready after the migrations', async () => {
    for (const probe of ['livez', 'readyz'])
      expect([probe, (await fetch(`${url}/${probe}`)).status]).toEqual([probe, 200]);
  });

  test('creates a record and lists it', async () => {
    const { paths, components } = (await (await fetch(`${url}/openapi.json`)).json()) as OpenApiDocument;
    const { $ref } = paths[path]!.post.requestBody.content['application/json'].schema;
    const [record] = components.schemas[$ref.split('/').pop()!]!.examples;
    const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(record) };
    expect((await fetch(url + path, init)).ok).toBe(true);
    expect(await (await fetch(url + path)).text()).toContain(String(Object.values(record)[0]));
  });

  test('serves the page at /docs, and the pages that it has, from its own files', async () => {
    for (const page of ['/docs/static/swagger-ui-bundle.js', ...(client ? ['/'] : [])]) {
      const answer = await fetch(url + page);
      expect([page, answer.status, (await answer.arrayBuffer()).byteLength > 0]).toEqual([page, 200, true]);
    }
  });

  test('logs JSON, one line for each request', async () => {
    const asked = `${path}?logged=${app}`;
    await fetch(url + asked);
    expect(JSON.parse(await service.line(new RegExp(`logged=${app}`)))).toMatchObject({ method: 'GET', url: asked });
    for (const line of service.lines)
      expect(JSON.parse(line)).toEqual(expect.objectContaining({ msg: expect.any(String) }));
  });

  test('has a health check that fails when nothing answers on the port', async () => {
    const inspected = await succeed('image', 'inspect', '--format', '{{json .Config.Healthcheck.Test}}', image);
    const [kind, ...command] = JSON.parse(inspected) as string[];
    expect(kind).toBe('CMD');
    expect((await start('exec', name, ...command).ended).code).toBe(0);
    const unused = `PORT=${await freePort()}`;
    expect((await start('exec', '--env', unused, name, ...command).ended).code).toBe(1);
  });

  test('runs as process 1, as an ordinary user who can change no file, with a heap for its memory', async () => {
    const state = await inside(`() => {
      const fs = require('node:fs');
      const refusal = (file) => { try { fs.writeFileSync(file, '') } catch (error) { return error.code } };
      return {
        first: fs.readFileSync('/proc/1/cmdline', 'utf8').split('\\0').slice(0, 3),
        ids: [process.getuid(), process.getgid()],
        writing: ['/app/main.js', '/app/new', '/etc/new'].map(refusal),
        memory: process.constrainedMemory(),
        heap: require('node:v8').getHeapStatistics().heap_size_limit,
      };
    }`);
    expect(state).toEqual({
      first: ['node', '--heap-growing-percent=30', 'main.js'],
      ids: [1000, 1000],
      writing: ['EROFS', 'EROFS', 'EROFS'],
      memory: 256 * 1024 ** 2,
      // Half of the memory, and three semi-spaces.
      heap: (128 + 3 * 8) * 1024 ** 2,
    });
  });

  test('holds the bundle and what it serves, and neither a package manager nor packages nor sources', async () => {
    const contents = await inside(`() => {
      const fs = require('node:fs');
      const programs = process.env.PATH.split(':').flatMap((folder) => fs.existsSync(folder) ? fs.readdirSync(folder) : []);
      return {
        folder: fs.readdirSync('/app').sort(),
        sources: fs.readdirSync('/app', { recursive: true }).filter((file) => /\\.tsx?$|\\.map$|package/.test(file)),
        managers: programs.filter((name) => /^(npm|npx|corepack|yarn|yarnpkg|pnpm)$/.test(name)),
        packages: ['/usr/local/lib/node_modules', '/app/node_modules', '/workspace'].filter((path) => fs.existsSync(path)),
      };
    }`);
    const folder = [
      'licenses.txt',
      'main.js',
      'row-counts-bounded-folds.sql',
      'row-counts-bulk-updates.sql',
      'row-counts.sql',
      'swagger-ui',
      'telemetry.js',
      ...(client ? ['public'] : []),
    ].sort();
    expect(contents).toEqual({ folder, sources: [], managers: [], packages: [] });
  });

  test('adds less than 6 MB to its base image', async () => {
    const history = await succeed('history', '--no-trunc', '--format', '{{.Size}}\t{{.CreatedBy}}', image);
    const steps = history.split('\n').map((step) => step.split('\t') as [string, string]);
    // The newest comes first; the first that is ours removes the package manager.
    const ours = steps.slice(0, steps.findIndex(([, command]) => command.includes('rm -rf /usr/local/lib')) + 1);
    const sizes = ours.map(([size]) => bytes(size)).filter((size) => size > 0);
    expect(sizes.length).toBeGreaterThan(0);
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(6_000_000);
  });

  test('tells by its labels and its document what it is, in which version and of which commit', async () => {
    const labels = JSON.parse(
      await succeed('image', 'inspect', '--format', '{{json .Config.Labels}}', image),
    ) as object;
    const { license } = await readJson('package.json');
    const { version } = await readJson('apps', app, 'package.json');
    expect(labels).toMatchObject({
      'org.opencontainers.image.title': app,
      'org.opencontainers.image.description': expect.stringContaining(app),
      'org.opencontainers.image.licenses': license,
      'org.opencontainers.image.version': version,
      'org.opencontainers.image.revision': expect.stringMatching(/^[0-9a-f]{40}(-dirty)?$|^unknown$/),
      'org.opencontainers.image.created': expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:]{8}/),
    });
    const { info } = (await (await fetch(`${url}/openapi.json`)).json()) as { info: object };
    expect(info).toMatchObject({ version });
  });

  test('is described by an SBOM that lists each package of the bundle and of the pages', async () => {
    const { components } = (await readJson('dist', app, 'sbom.cdx.json')) as { components: { purl: string }[] };
    const { inputs } = (await readJson('apps', app, 'dist', 'metafile.json')) as { inputs: object };
    const folders = Object.keys(inputs).flatMap((file) => /.*node_modules\/(@[^/]+\/)?[^/]+/.exec(file)?.[0] ?? []);
    const bundled = [...new Set(folders)].map((folder) => readJson('apps', app, folder, 'package.json'));
    const packages = (await Promise.all(bundled)).map(({ name, version }) => `${String(name)}@${String(version)}`);
    expect(packages.length).toBeGreaterThan(50);
    const listed = components.map(({ purl }) => decodeURIComponent(purl.replace('pkg:npm/', '')));
    expect(listed).toEqual(expect.arrayContaining(packages));

    expect(listed.filter((entry) => entry.startsWith('@rest-services/local-postgres'))).toEqual([]);

    const pages = ['preact', 'openapi-fetch'];
    const listedPages = pages.filter((page) => listed.some((entry) => entry.startsWith(`${page}@`)));
    expect(listedPages).toEqual(client ? pages : []);
  });

  test('ends with code 0 within 10 seconds of SIGTERM', async () => {
    const begin = performance.now();
    await succeed('kill', '--signal', 'TERM', name);
    expect(await service.ended).toMatchObject({ code: 0 });
    expect(performance.now() - begin).toBeLessThan(10_000);
    await service.line(/"msg":"stopped"/);
  }, 15_000);
});

describe('RUNTIME_IMAGE and NODE_IMAGE', () => {
  const base = `localhost/rest-services-test-runtime:${process.pid}`;
  const builder = `localhost/rest-services-test-builder:${process.pid}`;
  const image = `localhost/rest-services-test-items:${process.pid}`;
  const isDocker = engine.endsWith('docker');
  // As build.sh has it.
  const build = [
    'build',
    ...(isDocker ? [] : ['--format', 'docker', '--skip-unused-stages=false']),
    ...words('CONTAINER_BUILD_ARGS'),
  ];
  let folder: string;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'runtime-'));
    // As a distroless image has them: node in its place, the libraries that it needs, and no shell.
    const lines = [
      'FROM rest-services/items:latest AS node',
      'FROM scratch',
      'COPY --from=node /lib /lib',
      'COPY --from=node /lib64 /lib64',
      'COPY --from=node /usr/lib /usr/lib',
      'COPY --from=node /usr/local/bin/node /nodejs/bin/node',
      'ENV PATH=/usr/local/bin:/usr/bin:/bin',
      'ENTRYPOINT ["/nodejs/bin/node"]',
    ];
    await writeFile(join(folder, 'Dockerfile'), lines.join('\n'));
    await succeed(...build, '--tag', base, folder);
    // As Chainguard's and Bitnami's set it.
    const dockerfile = join(workspace, 'docker/Dockerfile');
    const own = /^ARG NODE_IMAGE=(.+)$/m.exec(await readFile(dockerfile, 'utf8'))![1]!;
    const from = `FROM ${process.env.NODE_IMAGE ?? own}\nENV NODE_ENV=production\nUSER 1000\n`;
    await writeFile(join(folder, 'Dockerfile'), from);
    await succeed(...build, '--tag', builder, folder);
    const clone = join(folder, 'clone');
    const isSource = (file: string) => !/\/(node_modules|dist|\.git|\.nx|\.data)$/.test(file);
    await cp(workspace, clone, { recursive: true, filter: isSource });
    for (const file of await readdir(clone, { recursive: true, withFileTypes: true }))
      if (!file.isSymbolicLink()) await chmod(join(file.parentPath, file.name), file.isDirectory() ? 0o700 : 0o600);
    const images = [`RUNTIME_IMAGE=${base}`, `NODE_IMAGE=${builder}`].flatMap((each) => ['--build-arg', each]);
    await succeed(...build, '--build-arg', 'APP=items', ...images, '--tag', image, '--file', dockerfile, clone);
  }, 900_000);

  afterAll(async () => {
    await start('image', 'rm', '--force', image, base, builder).ended;
    await rm(folder, { recursive: true });
  });

  test('are a base without a shell and one for production, also from a clone under umask 077', async () => {
    expect((await start(...run, image, 'sh', '-c', 'true').ended).code).not.toBe(0);
    const port = await freePort();
    const database = await createTestDatabase();
    const name = `rest-services-test-runtime-${process.pid}`;
    const environment = ['HOST=127.0.0.1', `PORT=${port}`, `DATABASE_URL=${database.url}`];
    const service = start(...run, '--name', name, ...environment.flatMap((each) => ['--env', each]), image);
    await service.line(/Server listening/);
    for (const path of ['/readyz', '/docs/static/swagger-ui-bundle.js', '/docs/static/favicon-32x32.png'])
      expect([path, (await fetch(`http://127.0.0.1:${port}${path}`)).status]).toEqual([path, 200]);
    await succeed('exec', name, 'node', 'main.js', 'health');
    await succeed('kill', '--signal', 'TERM', name);
    expect(await service.ended).toMatchObject({ code: 0 });
    await database.drop();
  });
});

/** `4.97 MB`, `6.14kB`, `0B`: each engine writes them in its own way. */
function bytes(size: string) {
  const [, number, unit] = /^([\d.]+) ?(B|kB|MB|GB)$/.exec(size)!;
  return Number(number) * 1000 ** ['B', 'kB', 'MB', 'GB'].indexOf(unit!);
}
