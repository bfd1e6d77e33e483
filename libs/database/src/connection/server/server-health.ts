import type { ServerState } from './server-client.ts';

/** Age of a response that still shows that the server can be reached. */
const RECENT_MS = 1_000;

/** What responses and lost connections tell about the server that is in use. */
export class ServerHealth {
  /** Whether no connection has been lost since the last response, and no request has waited in vain. */
  isReachable = true;
  /** Whether the last server that responded takes no writes, or no server that responds is one that does. */
  isReadOnly = false;
  /** Number of connections that the server has ended, or on which it did not respond. */
  lostConnections = 0;
  #respondedAt = -Infinity;

  /** Whether a server that takes writes has responded in the last second, and has not been lost since. */
  get isResponding() {
    return this.isReachable && !this.isReadOnly && this.hasRespondedSince(performance.now() - RECENT_MS);
  }

  /** @param time of `performance.now()` */
  hasRespondedSince(time: number) {
    return this.#respondedAt > time;
  }

  /** @param state that of the server, where it is known to be that of now */
  responded(state: ServerState | undefined) {
    this.#respondedAt = performance.now();
    this.isReachable = true;
    if (state) this.isReadOnly = state.isReadOnly;
  }

  lostConnection() {
    this.isReachable = false;
    this.lostConnections += 1;
  }
}
