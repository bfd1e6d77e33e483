import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { freePort } from '@rest-services/local-postgres';
import { expectReadme } from '@rest-services/testing';
import { services, type Service } from '@rest-services/workspace';
import { copyWorkspace, git, plainEnvironment } from './copy.ts';
import { type } from './terminal.ts';

/** Commands of the documents that start something, which they serve until Ctrl-C. */
const SERVING = [
  'npm start',
  ...services().map(({ name }) => `npm start -- ${name}`),
  'NODE_ENV=development npm start -- todos',
  'npm run dev',
  'npx nx debug items',
];

/** Commands of the documents that end by themselves, in this order. */
const ENDING = [
  'npx nx build items',
  'npx nx build todos-web',
  'npx nx build client',
  'npm pack ./libs/client/dist',
  'npx nx openapi items',
  'npx nx release 1.1.0 --skip-publish --dry-run',
];

// Nothing is built, and the machine may be busy.
jest.setTimeout(600_000);

describe('In a new clone', () => {
  // Characters that are part of URLs, and more than one byte long.
  const folder = mkdtempSync(join(tmpdir(), 'commands C# ü 100% '));
  const copy = join(folder, 'clone');
  const env: NodeJS.ProcessEnv = { ...plainEnvironment };
  beforeAll(async () => {
    copyWorkspace(copy);
    const apps = [...services().map(({ name }) => name), 'todos-web'];
    const ports = new Set<number>();
    while (ports.size < apps.length) ports.add(await freePort());
    for (const [index, port] of [...ports].entries())
      env[`${apps[index]!.toUpperCase().replaceAll('-', '_')}_PORT`] = `${port}`;
    delete env.DATABASE_URL;
  });
  let serving: ReturnType<typeof type> | undefined;
  afterEach(() => serving?.interrupt());
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  const start = (command: string) => type(command, { cwd: copy, env });

  test('files end their lines as in any other, with core.autocrlf=true', () => {
    git(folder, 'clone', '--quiet', '--config', 'core.autocrlf=true', 'clone', 'crlf');
    expect(git(join(folder, 'crlf'), 'ls-files', '--eol').match(/.* w\/(crlf|mixed) .*/g)).toBe(null);
  });

  test.each(SERVING)('%s serves what it names and the lines of its README, and ends at Ctrl-C', async (command) => {
    // The lines begin with empty tables.
    rmSync(join(copy, '.data'), { recursive: true, force: true });
    serving = start(command);
    // Two chunks may share a line.
    await serving.said(/^Open \S+\n/m);
    const [, output] = serving.output().split('to try it');
    const urls = output!.match(/http:\S+/g)!;
    expect(urls.length).toBeGreaterThan(1);
    for (const url of urls) {
      expect([url, (await fetch(url)).status]).toEqual([url, 200]);
      const service = services().find(({ path }) => url.endsWith(path));
      if (service && command.startsWith('npm start')) await expectLines(service, url);
    }
    if (command === SERVING[0]) {
      const names = services().map(({ name }) => name);
      expect((await start('npm run demo-data').ended).output).toContain(`Filled ${names.join(', ')}.`);
      const { headers } = await fetch(urls.find((url) => url.endsWith('/v1/items'))!);
      expect(Number(headers.get('x-total-count'))).toBeGreaterThan(50);
    }
    // Nx dies of the signal itself.
    expect(await serving.interrupt()).toMatchObject({ code: command.startsWith('npx') ? null : 0 });
  });

  /** Expects the port of the stack in a README, and the response below each line. */
  async function expectLines({ name, localPort, path }: Service, url: string) {
    const readme = join(copy, 'apps', name, 'README.md');
    const places = readFileSync(readme, 'utf8').match(/localhost:\d+/g);
    expect(new Set(places)).toEqual(new Set([`localhost:${localPort}`]));
    await expectReadme(readme, url.slice(0, -path.length));
  }

  test('npx nx serve todos-web serves the pages', async () => {
    serving = type('npx nx serve todos-web', { cwd: copy, env: { ...env, FORCE_COLOR: '0' } });
    await serving.said(/Local: .+\n/);
    const [url] = serving.output().match(/http:\S+/)!;
    expect((await fetch(url, { headers: { accept: 'text/html' } })).status).toBe(200);
  });

  test.each(ENDING)('%s succeeds', async (command) => {
    const { code, output, errors } = await start(command).ended;
    expect(code === 0 || output + errors).toBe(true);
  });
});
