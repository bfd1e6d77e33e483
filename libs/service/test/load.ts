import { Agent, request, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';

/** A request that is no plain GET. */
export interface Write {
  method: 'POST' | 'PUT' | 'DELETE';
  path: string;
  body?: object;
}

/** What became of one request: an answer, or the error with which it failed. */
export interface Outcome {
  status?: number;
  body?: string;
  /** The header of this name. */
  retryAfter?: string | undefined;
  /** Error code, where there was no answer. */
  failure?: string;
  /** How long it took, to the last byte. */
  ms: number;
  /** Whether the connection had been used before, so that the service had certainly accepted it. */
  isReused: boolean;
}

/** Whoever is refused waits before it asks again: without a pause it would take the processor from all others. */
const PAUSE_MS = 50;

/**
 * Sends requests over keep-alive connections, one after the other on each, until `stop()` or until a connection is
 * refused.
 */
export function load(url: string, requests: (string | Write)[], connections: number) {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const outcomes: Outcome[] = [];
  const waiting = new Set<(outcome: Outcome) => void>();
  let isStopped = false;

  async function worker() {
    for (let turn = 0; !isStopped; turn += 1) {
      const outcome = await send(url, requests[turn % requests.length]!, agent);
      outcomes.push(outcome);
      waiting.forEach((look) => look(outcome));
      if (outcome.failure === 'ECONNREFUSED') return;
      if (outcome.status === 503) await sleep(PAUSE_MS);
    }
  }
  const workers = Promise.all(Array.from({ length: connections }, worker)).finally(() => agent.destroy());

  return {
    /** Waits until `count` outcomes after this call fulfil the condition. */
    until: (condition: (outcome: Outcome) => boolean, count = 1) =>
      new Promise<void>((resolve) => {
        let seen = 0;
        const look = (outcome: Outcome) => {
          if (condition(outcome)) seen += 1;
          if (seen < count) return;
          waiting.delete(look);
          resolve();
        };
        waiting.add(look);
      }),
    /** All outcomes, when every worker has been refused. */
    refused: async () => {
      await workers;
      return outcomes;
    },
    stop: async () => {
      isStopped = true;
      await workers;
      return outcomes;
    },
  };
}

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
    const answer = await text(response);
    const retryAfter = response.headers['retry-after'];
    return { status: response.statusCode!, body: answer, retryAfter, ...outcome() };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    return { failure: code, ...outcome() };
  }
}
