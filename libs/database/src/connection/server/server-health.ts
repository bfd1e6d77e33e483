import type { ServerState } from './server-client.ts';

/** Age of a response that still shows that the server can be reached. */
const RECENT_MS = 1_000;

/** What responses and lost connections tell about the server that is in use. */
export class ServerHealth {
  #respondedAt = -Infinity;
  #isLost = false;
  #isReadOnly = false;
  #lostConnections = 0;

  /** Whether a server that takes writes has responded in the last second, and has not been lost since. */
  get isResponding() {
    return !this.#isLost && !this.#isReadOnly && performance.now() - this.#respondedAt < RECENT_MS;
  }

  /** Whether no connection has been lost since the last response. */
  get isReachable() {
    return !this.#isLost;
  }

  /** Whether the last server that responded takes no writes, or no server that responds is one that does. */
  get isReadOnly() {
    return this.#isReadOnly;
  }

  /** Number of connections that the server has ended, or on which it did not respond. */
  get lostConnections() {
    return this.#lostConnections;
  }

  /** @param time of `performance.now()` */
  hasRespondedSince(time: number) {
    return this.#respondedAt > time;
  }

  /** @param state that of the server, where it is known to be that of now */
  responded(state: ServerState | undefined) {
    this.#respondedAt = performance.now();
    this.#isLost = false;
    if (state) this.#isReadOnly = state.isReadOnly;
  }

  refusedWrite() {
    this.#isReadOnly = true;
  }

  /** A session waits, or one was asked for, for longer than a request may. */
  fellSilent() {
    this.#isLost = true;
  }

  lostConnection() {
    this.#isLost = true;
    this.#lostConnections += 1;
  }
}
