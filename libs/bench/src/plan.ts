import type { Rows } from './scenarios.ts';

/** How much is measured, and how long. */
export interface Plan {
  rows: Rows;
  rounds: number;
  seconds: number;
  /** Before the first measurement of a scenario, for a runtime that compiles what is run often. */
  readySeconds: number;
  /** Before each measurement, over as many connections. */
  warmUpSeconds: number;
  connections: number[];
  /** Connections of the ceiling, which few goals compare. */
  connectionsBeside: number[];
  /** Names of the scenarios; all when omitted. */
  scenarios?: string[];
  /** How often the time to the first answer is taken. */
  starts: number;
}

/** Number of connections of the load that makes each contestant ready. */
export const READY_CONNECTIONS = 64;

/** Plan for the published results. */
export const fullPlan: Plan = {
  rows: { items: 1_000_000, tutorials: 100_000 },
  rounds: 5,
  seconds: 1.2,
  readySeconds: 4,
  warmUpSeconds: 0.4,
  connections: [1, 64, 512],
  connectionsBeside: [1, 64, 512],
  starts: 5,
};

/** Less than two minutes, for an impression. */
export const quickPlan: Plan = {
  rows: { items: 100_000, tutorials: 10_000 },
  rounds: 3,
  seconds: 0.4,
  readySeconds: 0.8,
  warmUpSeconds: 0.2,
  connections: [1, 64],
  connectionsBeside: [64],
  scenarios: ['read', 'first-page', 'create', 'create-once'],
  starts: 3,
};
