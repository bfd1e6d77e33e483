import { Agent, request, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';

/** What became of one request: an answer, or the error with which it failed. */
export interface Outcome {
  status?: number;
  body?: string;
  /** Error code, where there was no answer. */
  failure?: string;
  /** How long it took, to the last byte. */
  ms: number;
  /** Whether the connection had been used before, so that the service had certainly accepted it. */
  isReused: boolean;
}

/**
 * Sends requests over keep-alive connections, one after the other on each, until `stop()` or until a connection is
 * refused.
 */
export function load(url: string, paths: string[], connections: number) {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const outcomes: Outcome[] = [];
  const waiting = new Set<(outcome: Outcome) => void>();
  let isStopped = false;

  async function worker() {
    for (let turn = 0; !isStopped; turn += 1) {
      const outcome = await send(url + paths[turn % paths.length]!, agent);
      outcomes.push(outcome);
      waiting.forEach((look) => look(outcome));
      if (outcome.failure === 'ECONNREFUSED') return;
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

async function send(url: string, agent: Agent): Promise<Outcome> {
  const outgoing = request(url, { agent });
  const sentAt = performance.now();
  const ms = () => performance.now() - sentAt;
  try {
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      outgoing.on('response', resolve).on('error', reject).end();
    });
    const body = await text(response);
    return { status: response.statusCode!, body, ms: ms(), isReused: outgoing.reusedSocket };
  } catch (error) {
    return { failure: (error as NodeJS.ErrnoException).code ?? 'unknown', ms: ms(), isReused: outgoing.reusedSocket };
  }
}
