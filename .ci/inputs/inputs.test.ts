import { execFile, execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join, relative } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, expect, test } from '@jest/globals';

// Each file that a target reads has to be one of its inputs. Otherwise Nx takes an old result from its cache after a change.

interface Target {
  cache?: boolean;
  options: { command: string; cwd?: string; args?: string[]; env?: NodeJS.ProcessEnv };
}

const run = promisify(execFile);
const workspace = join(import.meta.dirname, '../..');
const folder = mkdtempSync(join(tmpdir(), 'inputs-'));
afterAll(() => rmSync(folder, { recursive: true }));

const list = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], { cwd: workspace });
const sources = new Set(list.toString().trim().split('\n'));

const graph = join(folder, 'graph.json');
execFileSync('nx', ['graph', `--file=${graph}`], { cwd: workspace });
const { nodes } = (JSON.parse(readFileSync(graph, 'utf8')) as { graph: { nodes: object } }).graph;
const cached = Object.entries(nodes as Record<string, { data: { targets: Record<string, Target> } }>)
  .flatMap(([project, { data }]) => Object.entries(data.targets).map(([name, target]) => ({ project, name, target })))
  .filter(({ target }) => target.cache);

/** Loads test files without running their tests, and leaves out lint and typecheck: one minute on 2 cores instead of ten. */
const isQuick = process.env.TRACE_ALL !== 'true';
const traced = cached.filter(({ name }) => !isQuick || (name !== 'lint' && name !== 'typecheck'));

test.each(traced)('$project:$name reads only files that are its inputs', async ({ project, name, target }) => {
  const [read, inputs] = await Promise.all([filesRead(project, name, target), inputsOf(project, name)]);
  expect(read.length).toBeGreaterThan(1);
  expect(read.filter((file) => !inputs.includes(file))).toEqual([]);
});

const runsTests = (target: string) => target === 'test' || target === 'e2e';

/** Source files of the workspace that one run of a target opens in any of its processes. */
async function filesRead(project: string, name: string, { options }: Target) {
  const { command, cwd = '.', args = [], env } = options;
  const words = [
    // Otherwise the results of the real run would be lost.
    command.replaceAll('{projectName}', project).replace(/--outputFile=\S+/, '--outputFile=/dev/null'),
    ...args,
    ...(isQuick && runsTests(name) ? ["--testNamePattern='^$'"] : []),
  ];
  const file = join(folder, `${project}:${name}`);
  const strace = ['-f', '--seccomp-bpf', '-qq', '-y', '-e', 'trace=?open,openat', '-o', file];
  const tracing = run('strace', [...strace, 'sh', '-c', words.join(' ')], {
    cwd: join(workspace, cwd),
    env: {
      ...process.env,
      // Jest and the npm script have set both for this test.
      NODE_ENV: undefined,
      NODE_OPTIONS: undefined,
      ...env,
      PATH: [join(workspace, 'node_modules/.bin'), process.env.PATH].join(delimiter),
    },
    maxBuffer: Infinity,
  });
  // Tests that run may fail: tracing slows them down, and `npm test` reports failures.
  await (runsTests(name) && !isQuick ? tracing.catch(() => undefined) : tracing);
  // A call that another thread interrupts has two lines. The second one has the path.
  const opened = Array.from(readFileSync(file, 'utf8').matchAll(/ = \d+<(.+)>$/gm), ([, path]) =>
    relative(workspace, path!),
  );
  return [...new Set(opened)].filter((path) => sources.has(path)).sort();
}

async function inputsOf(project: string, name: string) {
  const { stdout } = await run('nx', ['show', 'target', 'inputs', `${project}:${name}`, '--json'], { cwd: workspace });
  return (JSON.parse(stdout) as { files: string[] }).files;
}
