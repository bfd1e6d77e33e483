import { SQLSTATE } from '../../sqlstate.ts';
import { nameOf, type ConnectionTarget, type Server } from './connection-url.ts';
import { isAccepted, type ServerState } from './server-client.ts';

/** Time after which `prefer-standby` searches for a standby again. */
const PREFERRED_AGAIN_MS = 10_000;

export interface ServerSelectionOptions {
  target: ConnectionTarget;
  /** Opens a session on a server and closes it. */
  probe: (server: Server) => Promise<ServerState>;
  /** A search has found another server than the last one, or the first one. */
  onSelected?: ((server: Server, previous: Server | undefined) => void) | undefined;
}

/**
 * Selects the server for new sessions out of a connection string, as libpq does for each session: in the order of the string, the last
 * good one first. A server is selected until a session on it is lost. Sessions carry the number of their selection, so that the
 * others are discarded then.
 */
export class ServerSelection {
  server: Server;
  /** Changes when sessions of before should no longer be used. */
  number = 0;
  readonly #options: ServerSelectionOptions;
  readonly #servers: Server[];
  #previous: Server | undefined;
  #unreachable: Server | undefined;
  #validUntil: number;
  #searching: Promise<void> | undefined;

  constructor(options: ServerSelectionOptions) {
    this.#options = options;
    this.#servers = options.target.servers;
    this.server = this.#servers[0]!;
    this.#validUntil = this.hasAlternatives ? -Infinity : Infinity;
  }

  get hasAlternatives() {
    return this.#servers.length > 1;
  }

  get isCurrent() {
    return performance.now() < this.#validUntil;
  }

  /**
   * Searches for a server; concurrent calls share one search.
   * @throws Error with the code 25006 when no server that responds takes writes, or the error of the first server
   */
  async select(): Promise<void> {
    this.#searching ??= this.#search().finally(() => (this.#searching = undefined));
    return this.#searching;
  }

  /**
   * A session, or an attempt to connect, was lost.
   * @param selection its number: the loss of an older one says nothing new
   * @param isUnreachable the server did not respond, so that the next search tries it last
   */
  lose(selection: number, { isUnreachable = false } = {}) {
    if (selection !== this.number) return;
    this.number++;
    this.#unreachable = isUnreachable ? this.server : undefined;
    if (this.hasAlternatives) this.#validUntil = -Infinity;
  }

  /** A server has refused a write: with others, the next search decides whether one of them takes it. */
  refuseWrite(selection: number) {
    if (this.hasAlternatives) this.lose(selection);
  }

  async #search() {
    const { target, probe } = this.#options;
    const prefersStandby = target.targetSessionAttributes === 'prefer-standby';
    const attributes = prefersStandby ? 'standby' : target.targetSessionAttributes;
    let reached: Server | undefined;
    let failure: unknown;
    for (const server of this.#inOrder(prefersStandby)) {
      try {
        const state = await probe(server);
        if (isAccepted(state, attributes)) {
          this.#take(server, Infinity);
          return;
        }
        reached ??= server;
      } catch (error) {
        failure ??= error;
      }
    }
    if (!reached) throw failure;
    if (!prefersStandby) throw noServer(target);
    this.#take(reached, performance.now() + PREFERRED_AGAIN_MS);
  }

  #inOrder(prefersStandby: boolean) {
    const lastGood = prefersStandby ? this.#servers[0]! : this.server;
    const ordered = new Set([lastGood, ...this.#servers]);
    if (this.#unreachable && ordered.delete(this.#unreachable)) ordered.add(this.#unreachable);
    return ordered;
  }

  #take(server: Server, validUntil: number) {
    if (server !== this.server) this.number++;
    if (server !== this.#previous) this.#options.onSelected?.(server, this.#previous);
    this.server = server;
    this.#previous = server;
    this.#unreachable = undefined;
    this.#validUntil = validUntil;
  }
}

/** The error of a server that `target_session_attrs` does not accept, or of servers that are all so. */
export function noServer({ servers, targetSessionAttributes }: ConnectionTarget) {
  const isForWrites = ['read-write', 'primary'].includes(targetSessionAttributes);
  return Object.assign(new Error(`No server of ${servers.map(nameOf).join(', ')} is ${targetSessionAttributes}`), {
    code: isForWrites ? SQLSTATE.READ_ONLY_SQL_TRANSACTION : SQLSTATE.UNABLE_TO_ESTABLISH_CONNECTION,
  });
}
