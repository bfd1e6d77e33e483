import { execFileSync } from 'node:child_process';
import { cp, mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createTestDatabase, freePort, type TestDatabase } from '@rest-services/local-postgres';
import { services } from '@rest-services/workspace';
import { build, buildImage, nodeImage, removeContainers, run, start, succeed, workspace } from './engine.ts';

// The images as they run in production: not as root, on a read-only file system, in 256 MB.

/** Limit for the build of an image, with its base, on a machine that is busy. */
const BUILD_MS = 900_000;

beforeAll(removeContainers);
afterAll(removeContainers);

describe.each(services())('The image of $name', ({ name: app, path, client }) => {
  const image = `rest-services/${app}:latest`;
  const name = `rest-services-test-${app}-${process.pid}`;
  let database: TestDatabase;
  let folder: string;
  let url: string;
  let environment: string[];
  let service: ReturnType<typeof start>;

  beforeAll(async () => {
    await buildImage(app);
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
  }, BUILD_MS);

  afterAll(async () => {
    await start('rm', '--force', name).ended;
    await service.ended;
    await rm(folder, { recursive: true });
    await database.drop();
  });

  /** Runs a script in the running container. @returns what it writes, which is JSON */
  const inside = async (script: string) =>
    JSON.parse(await succeed('exec', name, 'node', '--print', `JSON.stringify((${script})())`)) as unknown;

  test('is ready after the migrations, creates a record, and serves its pages from its own files', async () => {
    expect((await fetch(`${url}/readyz`)).status).toBe(200);
    const { components } = (await (await fetch(`${url}/openapi.json`)).json()) as {
      components: { schemas: Record<string, { examples?: [object] }> };
    };
    const [record] = Object.entries(components.schemas).find(([shape]) => /^Create[A-Z]|Fields$/.test(shape))![1]
      .examples!;
    const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(record) };
    expect((await fetch(url + path, init)).ok).toBe(true);
    expect(await (await fetch(url + path)).text()).toContain(String(Object.values(record)[0]));
    for (const page of ['/docs/static/swagger-ui-bundle.js', ...(client ? ['/'] : [])]) {
      const answer = await fetch(url + page);
      expect([page, answer.status, (await answer.arrayBuffer()).byteLength > 0]).toEqual([page, 200, true]);
    }
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

  test('holds what the build makes, less than 6 MB, and no package manager', async () => {
    const contents = await inside(`() => {
      const fs = require('node:fs');
      const files = fs.readdirSync('/app', { recursive: true });
      const programs = process.env.PATH.split(':').flatMap((folder) => fs.existsSync(folder) ? fs.readdirSync(folder) : []);
      return {
        files: files.sort(),
        isSmall: files.reduce((sum, file) => sum + fs.statSync('/app/' + file).size, 0) < 6_000_000,
        managers: programs.filter((name) => /^(npm|npx|corepack|yarn|yarnpkg|pnpm)$/.test(name)),
        packages: ['/usr/local/lib/node_modules', '/workspace'].filter((path) => fs.existsSync(path)),
      };
    }`);
    const built = await readdir(join(workspace, 'apps', app, 'dist'), { recursive: true });
    const files = built.filter((file) => !['metafile.json', 'package.json'].includes(file)).sort();
    expect(contents).toEqual({ files, isSmall: true, managers: [], packages: [] });
  });

  test('has the licences of the packages in its bundle, and of the page at /docs', async () => {
    const licenses = await inside(`() => require('node:fs').readFileSync('/app/licenses.txt', 'utf8')`);
    for (const each of ['fastify', 'kysely', 'pg', 'typebox', 'swagger-ui-dist'])
      expect(licenses).toMatch(new RegExp(`^${each} \\d`, 'm'));
    for (const text of ['Permission is hereby granted', 'TERMS AND CONDITIONS', 'SmartBear'])
      expect(licenses).toContain(text);
  });

  test('tells by its labels and its document what it is, in which version and of which commit', async () => {
    const labels = JSON.parse(
      await succeed('image', 'inspect', '--format', '{{json .Config.Labels}}', image),
    ) as object;
    const manifest = await readFile(join(workspace, 'apps', app, 'package.json'), 'utf8');
    const { version } = JSON.parse(manifest) as { version: string };
    expect(labels).toMatchObject({
      'org.opencontainers.image.title': app,
      'org.opencontainers.image.version': version,
      'org.opencontainers.image.revision': expect.stringMatching(/^[0-9a-f]{40}(-dirty)?$|^unknown$/),
      'org.opencontainers.image.created': expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:]{8}/),
    });
    const { info } = (await (await fetch(`${url}/openapi.json`)).json()) as { info: object };
    expect(info).toMatchObject({ version });
  });

  test('ends with code 0 within 10 seconds of SIGTERM', async () => {
    const begin = performance.now();
    await succeed('kill', '--signal', 'TERM', name);
    expect(await service.ended).toMatchObject({ code: 0 });
    expect(performance.now() - begin).toBeLessThan(10_000);
  }, 15_000);
});

describe('RUNTIME_IMAGE and NODE_IMAGE', () => {
  const base = `localhost/rest-services-test-runtime:${process.pid}`;
  const builder = `localhost/rest-services-test-builder:${process.pid}`;
  const image = `localhost/rest-services-test-items:${process.pid}`;
  let folder: string;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'runtime-'));
    // As a distroless image has them: node in its place, the libraries that it needs, and no shell.
    const distroless = `FROM rest-services/items:latest AS node
      FROM scratch
      COPY --from=node /lib /lib
      COPY --from=node /lib64 /lib64
      COPY --from=node /usr/lib /usr/lib
      COPY --from=node /usr/local/bin/node /nodejs/bin/node
      ENV PATH=/usr/local/bin:/usr/bin:/bin
      ENTRYPOINT ["/nodejs/bin/node"]`;
    await writeFile(join(folder, 'Dockerfile'), distroless);
    await succeed(...build, '--tag', base, folder);
    const dockerfile = join(workspace, 'docker/Dockerfile');
    // As Chainguard's and Bitnami's set it.
    const from = `FROM ${nodeImage}\nENV NODE_ENV=production\nUSER 1000\n`;
    await writeFile(join(folder, 'Dockerfile'), from);
    await succeed(...build, '--tag', builder, folder);
    const clone = join(folder, 'clone');
    const isSource = (file: string) => !/\/(node_modules|dist|\.git|\.nx|\.data)$/.test(file);
    await cp(workspace, clone, { recursive: true, filter: isSource });
    execFileSync('chmod', ['-R', 'go=', clone]);
    const images = [`RUNTIME_IMAGE=${base}`, `NODE_IMAGE=${builder}`].flatMap((each) => ['--build-arg', each]);
    await succeed(...build, '--build-arg', 'APP=items', ...images, '--tag', image, '--file', dockerfile, clone);
  }, BUILD_MS);

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
