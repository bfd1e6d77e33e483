import { setTimeout as sleep } from 'node:timers/promises';
import type { DatabaseServer } from './database-server.ts';
import type { History } from '../history.ts';
import type { Random } from '../clients/random.ts';
import type { Service } from './services.ts';
import type { Cut } from './tcp-proxy.ts';

/** Maximum time for which a process is stopped. */
const FREEZE_MS = 2_000;

/** A cut is within the head or the body of a message. */
const CUT_BYTES = 3_000;

export type FaultKind =
  ('freeze database' | 'restart database') | ('kill service' | 'freeze service') | ('cut client' | 'cut database');

/** Lanes of faults, each with the bounds of the delay before a fault, and the weights of its kinds. */
const LANES: { delays: [low: number, high: number]; kinds: Partial<Record<FaultKind, number>> }[] = [
  { delays: [200, 1_500], kinds: { 'freeze database': 1, 'restart database': 1 } },
  { delays: [200, 1_500], kinds: { 'kill service': 1, 'freeze service': 1 } },
  { delays: [20, 400], kinds: { 'cut client': 3, 'cut database': 2 } },
];

export interface Fault {
  kind: FaultKind;
  /** Delay after the end of the one before it in its lane. */
  afterMs: number;
  /** Time for which a process is stopped. */
  ms: number;
  /** Index of a service. */
  service: number;
  cut: Cut;
}

/** Time in which a service process was stopped by a signal. */
export interface Freeze {
  service: number;
  from: number;
  to: number;
}

export interface FaultyParts {
  database: DatabaseServer;
  services: Service[];
}

/** Makes the faults of a seed. Not every seed has every lane, because many faults at once leave few operations. */
export function makeSchedule(random: Random, seconds: number, services: number): Fault[][] {
  return LANES.filter(() => random.chance(0.8)).map(({ delays, kinds }) => {
    const lane: Fault[] = [];
    for (let at = 0; at < seconds * 1_000; at += lane.at(-1)!.afterMs)
      lane.push({
        kind: random.weighted(kinds),
        afterMs: random.integer(...delays),
        ms: random.integer(50, FREEZE_MS),
        service: random.integer(0, services - 1),
        cut: { from: random.pick(['client', 'server'] as const), bytes: random.integer(0, CUT_BYTES) },
      });
    return lane;
  });
}

/** Runs the lanes until the time of the clients has passed; each fault has then healed. */
export async function runFaults(
  lanes: Fault[][],
  { database, services }: FaultyParts,
  history: History,
  seconds: number,
) {
  const counts: Partial<Record<FaultKind, number>> = {};
  const freezes: Freeze[] = [];

  async function runLane(lane: Fault[]) {
    for (const fault of lane) {
      if (history.now() + fault.afterMs > seconds * 1_000) return;
      await sleep(fault.afterMs);
      counts[fault.kind] = (counts[fault.kind] ?? 0) + 1;
      await cause(fault);
    }
  }

  async function freeze(ms: number, signal: (name: 'SIGSTOP' | 'SIGCONT') => unknown) {
    await signal('SIGSTOP');
    await sleep(ms);
    await signal('SIGCONT');
  }

  async function cause({ kind, ms, service: index, cut }: Fault) {
    const service = services[index]!;
    switch (kind) {
      case 'freeze database':
        await freeze(ms, database.signal);
        break;
      case 'restart database':
        await database.restart();
        break;
      case 'kill service':
        await service.kill();
        // Some are restarted at once, so that the new process meets what the old one left.
        await sleep(ms / 4);
        await service.start();
        break;
      case 'freeze service': {
        const from = history.now();
        await freeze(ms, (name) => service.signal(name));
        freezes.push({ service: index, from, to: history.now() });
        break;
      }
      case 'cut client':
        service.proxy.cut(cut);
        break;
      case 'cut database':
        database.proxy.cut(cut);
    }
  }

  await Promise.all(lanes.map(runLane));
  return { counts, freezes };
}
