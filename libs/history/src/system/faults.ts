import { setTimeout as sleep } from 'node:timers/promises';
import type { DatabasePair } from './database-pair.ts';
import type { History } from '../history.ts';
import type { Random } from '../clients/random.ts';
import type { Service } from './services.ts';
import type { Cut } from './tcp-proxy.ts';

/** Maximum time for which a process is stopped. */
const FREEZE_MS = 2_000;

/** A cut is within the head or the body of a message. */
const CUT_BYTES = 3_000;

export type Fault = { afterMs: number } & (
  | { kind: 'freeze primary'; ms: number }
  | { kind: 'freeze standby'; ms: number }
  | { kind: 'restart primary' }
  | { kind: 'failover' }
  | { kind: 'kill service'; service: number; ms: number }
  | { kind: 'freeze service'; service: number; ms: number }
  | { kind: 'cut client'; service: number; cut: Cut }
  | { kind: 'cut database'; cut: Cut }
);

/** Time in which a service process was stopped by a signal. */
export interface Freeze {
  service: number;
  from: number;
  to: number;
}

export interface FaultyParts {
  database: DatabasePair;
  services: Service[];
}

/**
 * Makes the faults of a seed, in lanes: each fault of a lane has a delay after the end of the one before it.
 * Not every seed has every lane, because many faults at once leave few operations.
 */
export function makeSchedule(random: Random, seconds: number, services: number): Fault[][] {
  const service = () => random.integer(0, services - 1);
  const cut = (): Cut => ({ from: random.pick(['client', 'server'] as const), bytes: random.integer(0, CUT_BYTES) });
  const ms = () => random.integer(50, FREEZE_MS);
  const makers: (() => Fault)[] = [
    () => {
      const afterMs = random.integer(200, 1_500);
      const kind = random.weighted({ 'freeze primary': 3, 'freeze standby': 2, 'restart primary': 2, failover: 4 });
      return kind === 'restart primary' || kind === 'failover' ? { afterMs, kind } : { afterMs, kind, ms: ms() };
    },
    () => ({
      afterMs: random.integer(200, 1_500),
      kind: random.pick(['kill service', 'freeze service'] as const),
      service: service(),
      ms: ms(),
    }),
    () => {
      const afterMs = random.integer(20, 400);
      return random.chance(0.6)
        ? { afterMs, kind: 'cut client', service: service(), cut: cut() }
        : { afterMs, kind: 'cut database', cut: cut() };
    },
  ];
  return makers
    .filter(() => random.chance(0.8))
    .map((make) => {
      const lane: Fault[] = [];
      for (let at = 0; at < seconds * 1_000;) {
        const fault = make();
        at += fault.afterMs;
        lane.push(fault);
      }
      return lane;
    });
}

/** Runs the lanes until the time of the clients has passed; each fault has then healed. */
export async function runFaults(lanes: Fault[][], parts: FaultyParts, history: History, seconds: number) {
  const counts: Partial<Record<Fault['kind'], number>> = {};
  const freezes: Freeze[] = [];

  async function runLane(lane: Fault[]) {
    for (const fault of lane) {
      if (history.now() + fault.afterMs > seconds * 1_000) return;
      await sleep(fault.afterMs);
      counts[fault.kind] = (counts[fault.kind] ?? 0) + 1;
      await cause(fault);
    }
  }

  async function cause(fault: Fault) {
    const { database, services } = parts;
    switch (fault.kind) {
      case 'freeze primary':
      case 'freeze standby': {
        const role = fault.kind === 'freeze primary' ? 'primary' : 'standby';
        await database.signal(role, 'SIGSTOP');
        await sleep(fault.ms);
        await database.signal(role, 'SIGCONT');
        break;
      }
      case 'restart primary':
        await database.restart();
        break;
      case 'failover':
        await database.failOver();
        break;
      case 'kill service':
        await services[fault.service]!.kill();
        // Some are restarted at once, so that the new process meets what the old one left.
        await sleep(fault.ms / 4);
        await services[fault.service]!.start();
        break;
      case 'freeze service': {
        const from = history.now();
        services[fault.service]!.signal('SIGSTOP');
        await sleep(fault.ms);
        services[fault.service]!.signal('SIGCONT');
        freezes.push({ service: fault.service, from, to: history.now() });
        break;
      }
      case 'cut client':
        services[fault.service]!.proxy.cut(fault.cut);
        break;
      case 'cut database':
        database.proxies.forEach((proxy) => proxy.cut(fault.cut));
    }
  }

  await Promise.all(lanes.map(runLane));
  return { counts, freezes };
}
