import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { freePort } from '@rest-services/local-postgres';
import { expectReadme } from '@rest-services/testing';
import { services, type Service } from '@rest-services/workspace';
import { copyWorkspace, git, plainEnvironment } from './copy.ts';

const workspace = join(import.meta.dirname, '../../..');

/** Commands that start something, which they serve until Ctrl-C. */
const SERVING = [
  'npm start',
  ...services().map(({ name }) => `npm start -- ${name}`),
  'NODE_ENV=development npm start -- todos',
  'npm run dev',
  'npx nx debug items',
];

/** Commands that end by themselves, in this order. */
const ENDING = [
  'npx nx build items',
  'npx nx build todos-web',
  'npx nx build client',
  'npm pack ./libs/client/dist',
  'npx nx openapi items',
  'npx nx release 1.1.0 --skip-publish --dry-run',
];

/** Others, and where they are typed, or why they can't be. */
const ELSEWHERE: [RegExp, string][] = [
  [/^ITEMS_PORT=8090 npm start$|^npx nx serve items$/, 'above, with other names; ports come from there'],
  [/^HOST=0\.0\.0\.0 npm start$/, 'stack.test.ts, with another address'],
  [/^npm run demo-data$/, 'below, beside what the first command starts'],
  [/^npm ci( && npm (start|test))?$|^npm test$|^npm run e2e$|^npx nx e2e$/, '.ci/run; npm start is above'],
  [/^npm run (check|lint|typecheck|format)$|^npx nx affected -t test( build)?$/, '.github/workflows/ci.yml, npm test'],
  [
    /^(SESSIONS=1-200 )?npx nx (e2e|test) [\w-]+( -- \w+( --testNamePattern='[^']+')?)?$/,
    'npm test and npm run e2e run each target',
  ],
  [/^\.ci\/run$|^npx nx e2e docker( -- [\w ]+)?$/, '.github/workflows/ci.yml'],
  [/^npm run screenshots$/, 'writes pictures'],
  [/^npm run bench( -- --(quick|against=\S+))?$/, 'measures for minutes'],
  [/^npm run test:history( -- --seeds [\d-]+)?$/, 'libs/history/e2e, for seconds instead of minutes'],
  [/^npx nx openapi notes$|^npx prettier --write apps\/notes$/, 'new-service.test.ts'],
  [/^npm install( \.\/rest-services-client-\*\.tgz)?$/, 'libs/client/e2e installs the package'],
  [/^npx nx serve todos-web$/, 'opens a browser'],
  [/^npx nx build NAME$/, 'a placeholder'],
  [/nx (docker:build|(run-many|affected) -t docker:build)|^docker\/[\w/-]+\.sh/, 'docker/e2e'],
  [
    /node main\.js|^DATABASE_URL=postgres:\/\/… node apps|^node apps\/items\/dist\/main\.js migrate$/,
    'libs/service/test',
  ],
];

const commands = documentedCommands();

/** Of this repository alone: npm, npx, node and scripts, in blocks for a shell and within sentences. */
function documentedCommands() {
  const files = execFileSync('git', ['ls-files', '*.md'], { cwd: workspace, encoding: 'utf8' });
  const pages = files.split('\n').filter((file) => file && !/CHANGELOG/.test(file));
  const found = pages.flatMap((file) => {
    const text = existsSync(join(workspace, file)) ? readFileSync(join(workspace, file), 'utf8') : '';
    const blocks = [...text.matchAll(/```sh\n(.*?)```/gs)].flatMap(([, block]) =>
      block!.replaceAll(/\\\n\s*/g, '').split('\n'),
    );
    const inline = Array.from(text.replaceAll(/```.*?```/gs, '').matchAll(/`([^`\n]+)`/g), ([, code]) => code!);
    return [...blocks, ...inline];
  });
  const isOurs = /^(?:[A-Z_]+=\S+ )*(?:npm|npx|node|\.ci\/\w+|docker\/[\w-]+\.sh)\b(?! (?:_|is))/;
  const bare = found.map((line) => line.replace(/ +#.*$/, '').trim());
  return [
    ...new Set(
      bare.filter((line) => (isOurs.test(line) && line.includes(' ')) || /^(\.ci|docker)\/.*(run|\.sh)$/.test(line)),
    ),
  ];
}

test('each command of the documents is typed here, or where a line above says', () => {
  const unknown = commands.filter(
    (command) => ![...SERVING, ...ENDING].includes(command) && !ELSEWHERE.some(([pattern]) => pattern.test(command)),
  );
  expect(unknown).toEqual([]);
  expect([...SERVING, ...ENDING].filter((command) => !commands.includes(command))).toEqual([]);
});

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
  afterEach(async () => {
    if (serving?.isRunning()) serving.interrupt();
    await serving?.ended;
    serving = undefined;
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  /** Types a command, in a process group of its own as in a terminal. */
  function type(command: string) {
    const child = spawn('bash', ['-c', command], { cwd: copy, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => (output += text));
    const ended = once(child, 'close').then(([code]: (number | null)[]) => ({ code, output }));
    const said = (text: RegExp) =>
      new Promise<void>((resolve, reject) => {
        const check = () => text.test(output) && resolve();
        child.stdout.on('data', check);
        void ended.then(() => reject(new Error(`${command} has ended: ${output}`)));
      });
    return {
      ended,
      said,
      isRunning: () => child.exitCode === null && child.signalCode === null,
      interrupt: () => process.kill(-child.pid!, 'SIGINT'),
      urls: () => output.slice(output.indexOf('to try it')).match(/http:\S+/g) ?? [],
    };
  }

  test('files end their lines as in any other, with core.autocrlf=true', () => {
    git(folder, 'clone', '--quiet', '--config', 'core.autocrlf=true', 'clone', 'crlf');
    expect(git(join(folder, 'crlf'), 'ls-files', '--eol').match(/.* w\/(crlf|mixed) .*/g)).toBe(null);
  });

  test.each(SERVING)('%s serves what it names and the lines of its README, and ends at Ctrl-C', async (command) => {
    // The lines begin with empty tables.
    rmSync(join(copy, '.data'), { recursive: true, force: true });
    const typed = (serving = type(command));
    // Two chunks may share a line.
    await typed.said(/^Open \S+\n/m);
    expect(typed.urls().length).toBeGreaterThan(1);
    for (const url of typed.urls()) {
      expect([url, (await fetch(url)).status]).toEqual([url, 200]);
      const service = services().find(({ path }) => url.endsWith(path));
      if (service && command.startsWith('npm start')) await expectLines(service, url);
    }
    if (command === SERVING[0]) {
      const { code, output } = await type('npm run demo-data').ended;
      expect([code, output]).toEqual([0, expect.stringMatching(/[1-9]\d* records created/)]);
    }
    serving = undefined;
    typed.interrupt();
    // Nx dies of the signal itself.
    expect(await typed.ended).toMatchObject({ code: command.startsWith('npx') ? null : 0 });
  });

  /** Expects the port of the stack in a README, and the response below each line. */
  async function expectLines({ name, localPort, path }: Service, url: string) {
    const readme = join(copy, 'apps', name, 'README.md');
    const places = readFileSync(readme, 'utf8').match(/localhost:\d+/g);
    expect(new Set(places)).toEqual(new Set([`localhost:${localPort}`]));
    await expectReadme(readme, url.slice(0, -path.length));
  }

  test.each(ENDING)('%s succeeds', async (command) => {
    const { code, output } = await type(command).ended;
    expect([code === 0 || output, command]).toEqual([true, command]);
  });
});
