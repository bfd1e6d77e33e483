import { execFileSync } from 'node:child_process';
import { cp, mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createTestDatabase, freePort, type TestDatabase } from '@rest-services/local-postgres';
import { closedAtEnd } from '@rest-services/testing';
import { services } from '@rest-services/workspace';
import { build, buildImage, nodeImage, run, start, succeed, workspace } from './engine.ts';

// The images as they run in production: not as root, on a read-only file system, in 256 MB.

/** Limit for the build of an image, with its base, on a machine that is busy. */
const BUILD_MS = 900_000;

const inEnvironment = (...variables: string[]) => variables.flatMap((each) => ['--env', each]);

/** Starts the service of an image with arguments of `run`, and waits until it listens. */
async function serve(image: string, ...args: string[]) {
  const port = await freePort();
  const name = `rest-services-test-${port}`;
  const environment = inEnvironment('HOST=127.0.0.1', `PORT=${port}`);
  const { line, ended } = start(...run, '--name', name, ...environment, ...args, image);
  closedAtEnd(() => start('rm', '--force', name).ended);
  await line(/Server listening/);
  return {
    name,
    url: `http://127.0.0.1:${port}`,
    /** Ends it as an orchestrator does. @returns its exit code */
    stop: async () => {
      await succeed('kill', '--signal', 'TERM', name);
      return (await ended).code;
    },
  };
}

describe.each(services())('The image of $name', ({ name: app, path, client }) => {
  const image = `rest-services/${app}:latest`;
  let database: TestDatabase;
  let folder: string;
  let service: Awaited<ReturnType<typeof serve>>;

  beforeAll(async () => {
    await buildImage(app);
    database = await createTestDatabase();
    folder = await mkdtemp(join(tmpdir(), 'secrets-'));
    await writeFile(join(folder, 'database-url'), database.url);
    const args = [
      ...inEnvironment('DATABASE_URL_FILE=/run/secrets/database-url', 'MIGRATE_ON_START=false'),
      ...['--volume', `${join(folder, 'database-url')}:/run/secrets/database-url:ro`],
    ];
    // As an update does it: first the job that migrates, then the service, which does not.
    await succeed(...run, ...args, image, 'node', 'main.js', 'migrate');
    service = await serve(image, ...args);
  }, BUILD_MS);

  afterAll(async () => {
    await rm(folder, { recursive: true });
    await database.drop();
  });

  /** A part of the image's configuration. */
  const inspect = async (part: string) =>
    JSON.parse(await succeed('image', 'inspect', '--format', `{{json .Config.${part}}}`, image)) as unknown;

  /** Runs a script in the running container. @returns what it writes, which is JSON */
  const inside = async (script: string) =>
    JSON.parse(await succeed('exec', service.name, 'node', '--print', `JSON.stringify((${script})())`)) as unknown;

  test('is ready after the migrations, and serves records and pages from its own files', async () => {
    for (const each of ['/readyz', path, '/docs/static/swagger-ui-bundle.js', ...(client ? ['/'] : [])]) {
      const answer = await fetch(service.url + each);
      expect([each, answer.status, (await answer.arrayBuffer()).byteLength > 0]).toEqual([each, 200, true]);
    }
  });

  test('has a health check that fails when nothing answers on the port', async () => {
    const [kind, ...command] = (await inspect('Healthcheck.Test')) as string[];
    expect(kind).toBe('CMD');
    expect((await start('exec', service.name, ...command).ended).code).toBe(0);
    const unused = inEnvironment(`PORT=${await freePort()}`);
    expect((await start('exec', ...unused, service.name, ...command).ended).code).toBe(1);
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

  test('holds what the build makes, less than 6 MB, with its licences, and no package manager', async () => {
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
    const dist = join(workspace, 'apps', app, 'dist');
    const built = await readdir(dist, { recursive: true });
    const files = built.filter((file) => !['metafile.json', 'package.json'].includes(file)).sort();
    expect(contents).toEqual({ files, isSmall: true, managers: [], packages: [] });
    const licenses = await readFile(join(dist, 'licenses.txt'), 'utf8');
    for (const each of ['fastify', 'kysely', 'pg', 'typebox', 'swagger-ui-dist'])
      expect(licenses).toMatch(new RegExp(`^${each} \\d`, 'm'));
    for (const text of ['Permission is hereby granted', 'TERMS AND CONDITIONS', 'SmartBear'])
      expect(licenses).toContain(text);
  });

  test('tells by its labels and its document what it is, in which version and of which commit', async () => {
    const manifest = await readFile(join(workspace, 'apps', app, 'package.json'), 'utf8');
    const { version } = JSON.parse(manifest) as { version: string };
    expect(await inspect('Labels')).toMatchObject({
      'org.opencontainers.image.title': app,
      'org.opencontainers.image.version': version,
      'org.opencontainers.image.revision': expect.stringMatching(/^[0-9a-f]{40}(-dirty)?$|^unknown$/),
      'org.opencontainers.image.created': expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:]{8}/),
    });
    const { info } = (await (await fetch(`${service.url}/openapi.json`)).json()) as { info: object };
    expect(info).toMatchObject({ version });
  });

  test('ends with code 0 by SIGTERM', async () => {
    // After 10 s, the code is 1.
    expect(await service.stop()).toBe(0);
  });
});

describe('RUNTIME_IMAGE and NODE_IMAGE', () => {
  const tagOf = (name: string) => `localhost/rest-services-test-${name}:${process.pid}`;
  const [base, builder, image] = [tagOf('runtime'), tagOf('builder'), tagOf('items')];
  let folder: string;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'runtime-'));
    const buildFrom = async (tag: string, dockerfile: string) => {
      await writeFile(join(folder, 'Dockerfile'), dockerfile);
      await succeed(...build, '--tag', tag, folder);
    };
    // As a distroless image has them: node in its place, the libraries that it needs, and no shell.
    await buildFrom(
      base,
      `FROM rest-services/items:latest AS node
      FROM scratch
      COPY --from=node /lib /lib
      COPY --from=node /lib64 /lib64
      COPY --from=node /usr/lib /usr/lib
      COPY --from=node /usr/local/bin/node /nodejs/bin/node
      ENV PATH=/usr/local/bin:/usr/bin:/bin
      ENTRYPOINT ["/nodejs/bin/node"]`,
    );
    // As Chainguard's and Bitnami's set it.
    await buildFrom(builder, `FROM ${nodeImage}\nENV NODE_ENV=production\nUSER 1000\n`);
    const clone = join(folder, 'clone');
    const isSource = (file: string) => !/\/(node_modules|dist|\.git|\.nx|\.data)$/.test(file);
    await cp(workspace, clone, { recursive: true, filter: isSource });
    execFileSync('chmod', ['-R', 'go=', clone]);
    const values = ['APP=items', `RUNTIME_IMAGE=${base}`, `NODE_IMAGE=${builder}`];
    const args = values.flatMap((each) => ['--build-arg', each]);
    await succeed(...build, ...args, '--tag', image, '--file', join(workspace, 'docker/Dockerfile'), clone);
  }, BUILD_MS);

  afterAll(async () => {
    await start('image', 'rm', '--force', image, base, builder).ended;
    await rm(folder, { recursive: true });
  });

  test('are a base without a shell and one for production, also from a clone under umask 077', async () => {
    expect((await start(...run, image, 'sh', '-c', 'true').ended).code).not.toBe(0);
    const database = await createTestDatabase();
    const { name, url, stop } = await serve(image, ...inEnvironment(`DATABASE_URL=${database.url}`));
    for (const path of ['/readyz', '/docs/static/swagger-ui-bundle.js', '/docs/static/favicon-32x32.png'])
      expect([path, (await fetch(url + path)).status]).toEqual([path, 200]);
    await succeed('exec', name, 'node', 'main.js', 'health');
    expect(await stop()).toBe(0);
    await database.drop();
  });
});
