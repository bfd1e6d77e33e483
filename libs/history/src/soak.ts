// Checks a running items service for some minutes: npm run soak -- --minutes 10 --url http://localhost:8080
import { parseArgs } from 'node:util';
import { trendsOf, type Sample } from './soak/growth.ts';
import { runRound } from './soak/round.ts';

/** Time of the requests of a round, whose history is checked as a whole. */
const ROUND_SECONDS = 6;

const { urls, minutes } = readArguments();
const samples = new Map<string, Sample[]>(urls.map((url) => [url, []]));
const startedAt = performance.now();
const minutesPassed = () => (performance.now() - startedAt) / 60_000;
// The present round ends first, so that its items are deleted.
const interrupted = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => interrupted.abort());

const findings: string[] = [];
for (
  let seed = 1;
  findings.length === 0 && !interrupted.signal.aborted && (seed === 1 || minutesPassed() < minutes);
  seed += 1
) {
  const { violations, operations, failed, longestMs } = await runRound(urls, seed, ROUND_SECONDS);
  console.log(`round ${seed}: ${operations} requests, ${failed} failed, the longest took ${longestMs.toFixed()} ms`);
  for (const { check, message, lines } of violations)
    findings.push(`not "${check}": ${message}\n${lines.map((line) => `  ${line}\n`).join('')}`);
  for (const url of urls) samples.get(url)!.push(await sample(url));
}

for (const [url, taken] of samples) {
  const { memory, descriptors } = trendsOf(taken);
  const mebibytes = (bytes: number) => (bytes / 1_024 ** 2).toFixed(1);
  console.log(
    `${url}: memory ${mebibytes(memory.from)} to ${mebibytes(memory.to)} MiB, ${mebibytes(memory.perMinute)} per minute; ` +
      `descriptors ${descriptors.from} to ${descriptors.to}, ${descriptors.perMinute.toFixed(1)} per minute`,
  );
  if (memory.isGrowing) findings.push(`${url} takes more and more memory`);
  if (descriptors.isGrowing) findings.push(`${url} opens more and more file descriptors`);
  if (memory.isGrowing === undefined) console.log(`${url}: too few rounds to tell a trend`);
}
for (const finding of findings) console.error(finding);
console.log(findings.length === 0 ? 'PASS' : 'FAIL');
process.exitCode = findings.length === 0 ? 0 : 1;

async function sample(url: string): Promise<Sample> {
  const text = await (await fetch(`${url}/metrics`)).text();
  const value = (name: string) => {
    const line = new RegExp(`^${name} (.*)$`, 'm').exec(text);
    if (!line) throw new Error(`${url}/metrics does not have ${name}`);
    return Number(line[1]);
  };
  return {
    minute: minutesPassed(),
    memoryBytes: value('process_resident_memory_bytes'),
    descriptors: value('process_open_fds'),
  };
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
