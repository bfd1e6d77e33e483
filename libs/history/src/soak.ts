// Checks a running items service for some minutes: npm run soak -- --minutes 10 --url http://localhost:8080
import { parseArgs } from 'node:util';
import { FINAL_CLIENT } from './checks/checks.ts';
import { linesOf } from './checks/violation.ts';
import { growthOf } from './growth.ts';
import { rowsOf, type History } from './history.ts';
import { isOurs, runSeed } from './run-seed.ts';

/** Time of the requests of a round, whose history is checked as a whole. */
const ROUND_SECONDS = 6;

/** Growth that is noise: V8 collects the old generation when it has grown by 30 %. */
const MEMORY_NOISE = 0.1;
const DESCRIPTOR_NOISE = 5;

const { urls, minutes } = readArguments();
const samples = new Map(urls.map((url) => [url, { memory: [] as number[], descriptors: [] as number[] }]));
const end = performance.now() + minutes * 60_000;
// The present round ends first, so that its items are deleted.
const interrupted = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => interrupted.abort());

const findings: string[] = [];
for (let seed = 1; findings.length === 0; seed += 1) {
  const { violations, history, requests, unknown, longestMs } = await runSeed({
    ...{ seed, seconds: ROUND_SECONDS, minKnown: 0, urls },
  });
  console.log(`round ${seed}: ${requests} requests, ${unknown} failed, the longest took ${longestMs.toFixed()} ms`);
  await deleteItems(history);
  findings.push(...violations.map(linesOf));
  for (const [url, { memory, descriptors }] of samples) {
    const metrics = await (await fetch(`${url}/metrics`)).text();
    memory.push(metric(metrics, 'process_resident_memory_bytes') / 1_024 ** 2);
    descriptors.push(metric(metrics, 'process_open_fds'));
  }
  if (interrupted.signal.aborted || performance.now() > end) break;
}

for (const [url, taken] of samples) {
  const [memory, descriptors] = [growthOf(taken.memory), growthOf(taken.descriptors)];
  console.log(
    `${url}: memory ${memory.from.toFixed(1)} to ${taken.memory.at(-1)!.toFixed(1)} MiB, ` +
      `descriptors ${descriptors.from} to ${taken.descriptors.at(-1)}`,
  );
  if (memory.growth > MEMORY_NOISE * memory.from) findings.push(`${url} takes more and more memory`);
  if (descriptors.growth > DESCRIPTOR_NOISE) findings.push(`${url} opens more and more file descriptors`);
  if (Number.isNaN(memory.growth)) console.log(`${url}: too few rounds to tell a trend`);
}
for (const finding of findings) console.error(finding);
console.log(findings.length === 0 ? 'PASS' : 'FAIL');
process.exitCode = findings.length === 0 ? 0 : 1;

/** Deletes what the clients of a round have created. */
async function deleteItems({ operations }: History) {
  const last = operations.findLast(({ client, kind }) => client === FINAL_CLIENT && kind === 'list')!;
  for (const { id } of rowsOf(last).filter(isOurs)) await fetch(`${urls[0]}/v1/items/${id}`, { method: 'DELETE' });
}

function metric(text: string, name: string) {
  const line = new RegExp(`^${name} (.*)$`, 'm').exec(text);
  if (!line) throw new Error(`/metrics does not have ${name}`);
  return Number(line[1]);
}

function readArguments() {
  const { values } = parseArgs({
    options: {
      minutes: { type: 'string', default: '10' },
      url: { type: 'string', multiple: true, default: ['http://localhost:8080'] },
    },
  });
  if (!(Number(values.minutes) > 0)) {
    console.error('Use --minutes N, and --url URL for each replica of the items service.');
    process.exit(1);
  }
  return { urls: values.url.map((url) => url.replace(/\/$/, '')), minutes: Number(values.minutes) };
}
