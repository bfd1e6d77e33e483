import { EventEmitter, on } from 'node:events';
import { Agent, request, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { closedAtEnd } from '../closed-at-end.ts';

/** A request that writes. */
export interface Write {
  method: 'POST' | 'PUT' | 'DELETE';
  path: string;
  body?: object;
}

/** The response to one request, or the error with which it failed. */
export interface Outcome {
  status?: number;
  body?: string;
  /** The header Retry-After. */
  retryAfter?: string | undefined;
  /** Error code when there was no response. */
  failure?: string;
  /** Time to the last byte. */
  ms: number;
  /** Whether an earlier request had used the connection, which means that the service had accepted it. */
  isReused: boolean;
}

/** Delay before the next request of a client that was refused. Otherwise it would take the CPU from the service. */
const PAUSE_MS = 50;

/** Sends requests in series over each of the keep-alive connections, until `stop()`. */
export function load(url: string, requests: (string | Write)[], connections: number) {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const outcomes: Outcome[] = [];
  const progress = new EventEmitter();
  let isStopped = false;

  async function worker() {
    for (let turn = 0; !isStopped; turn += 1) {
      const outcome = await send(url, requests[turn % requests.length]!, agent);
      outcomes.push(outcome);
      progress.emit('outcome', outcome);
      if (outcome.status === 503 || outcome.failure) await sleep(PAUSE_MS);
    }
  }
  const workers = Promise.all(Array.from({ length: connections }, worker)).finally(() => agent.destroy());

  return {
    /** Waits until `count` outcomes after this call fulfil the condition. */
    until: async (condition: (outcome: Outcome) => boolean, count = 1) => {
      let seen = 0;
      for await (const [outcome] of on(progress, 'outcome') as AsyncIterable<[Outcome]>)
        if (condition(outcome) && (seen += 1) === count) return;
    },
    stop: closedAtEnd(async () => {
      isStopped = true;
      await workers;
      return outcomes;
    }),
  };
}

/** The outcomes with another status than these, each once: a difference of hundreds would hide what they are. */
export const unlike = (outcomes: Outcome[], ...statuses: number[]) => [
  ...new Set(
    outcomes
      .filter(({ status = 0 }) => !statuses.includes(status))
      .map(({ status, body, failure }) => `${status} ${body} ${failure}`),
  ),
];

/** Sends one request: a GET of a path, or a write. */
export async function send(url: string, what: string | Write, agent?: Agent): Promise<Outcome> {
  const { method, path, body } = typeof what === 'string' ? { method: 'GET', path: what } : what;
  const outgoing = request(url + path, { method, agent, headers: body && { 'content-type': 'application/json' } });
  const sentAt = performance.now();
  const outcome = () => ({ ms: performance.now() - sentAt, isReused: outgoing.reusedSocket });
  try {
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      outgoing.on('response', resolve).on('error', reject);
      outgoing.end(body && JSON.stringify(body));
    });
    const received = await text(response);
    const retryAfter = response.headers['retry-after'];
    return { status: response.statusCode!, body: received, retryAfter, ...outcome() };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    return { failure: code, ...outcome() };
  }
}
