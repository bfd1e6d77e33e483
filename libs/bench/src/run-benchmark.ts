import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Presets, SingleBar } from 'cli-progress';
import { measure, type Results, type Turn } from './measure.ts';

/** What a benchmark that runs has around it. */
export interface Benchmark {
  /** For its files; removed at its end. */
  directory: string;
  /** Calls `stop` at the end, also after an error or a signal, in the reverse order of these calls. */
  stopAtEnd: (stop: () => Promise<unknown>) => void;
  /** Measures with a progress bar. @throws Error after a signal */
  measure: (turns: Turn[]) => Promise<Results>;
}

/** Runs a benchmark. The process exits with 1 when it fails, or when a signal ends it. */
export async function runBenchmark(run: (benchmark: Benchmark) => Promise<void>) {
  const interruption = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => interruption.abort());
  const directory = await mkdtemp(join(tmpdir(), 'bench-'));
  const stops = [() => rm(directory, { recursive: true, force: true })];
  try {
    await run({
      directory,
      stopAtEnd: (stop) => stops.push(async () => void (await stop())),
      measure: (turns) => measureWithProgress(turns, interruption.signal),
    });
  } catch (error) {
    console.error(interruption.signal.aborted ? 'Interrupted.' : error);
    process.exitCode = 1;
  } finally {
    for (const stop of stops.reverse()) await stop();
  }
}

async function measureWithProgress(turns: Turn[], interruption: AbortSignal) {
  const bar = new SingleBar(
    {
      format: '{bar} {value}/{total} {eta_formatted} {turn}',
      clearOnComplete: true,
      noTTYOutput: true,
      notTTYSchedule: 10_000,
    },
    Presets.shades_classic,
  );
  bar.start(turns.length, 0, { turn: '' });
  let begun = 0;
  try {
    return await measure(turns, ({ scenario, connections, round, contestant }) => {
      interruption.throwIfAborted();
      const turn = `${scenario.name}, ${connections} connections, round ${round + 1}: ${contestant.name}`;
      bar.update(begun, { turn });
      begun += 1;
    });
  } finally {
    bar.stop();
  }
}
