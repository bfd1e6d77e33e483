/** A connection of a pool whose statement did not end in time. */
interface Abandoned {
  /** Ends with the statement or the connection. */
  statement: Promise<unknown>;
  /** Closes the connection, and makes room for another one in the pool. */
  close: () => void;
}

interface AbandonedSessionsOptions {
  /** Maximum number of connections that are held; the pool keeps the others for reads. */
  max: number;
  /**
   * Asks the server whether a statement of the service has been running for longer than its timeout.
   * @throws Error when the server does not respond
   */
  isAnyRunning: () => Promise<boolean>;
  /** Writes are refused from now on, or no longer. */
  onRefusal: (refusesWrites: boolean) => void;
}

/** Delay between two checks. */
const CHECK_MS = 1_000;

/**
 * Sessions whose statement did not end in time, and may be running still: one that waits for a synchronous standby has no timeout, and
 * the server does not see that its client has left. Such a session takes its place in the pool until the server has ended it. When
 * they have half of the places, writes are refused, each of which would take one more.
 *
 * The waits are not cancelled: PostgreSQL would show rows that a failover loses.
 */
export class AbandonedSessions {
  refusesWrites = false;
  readonly #options: AbandonedSessionsOptions;
  readonly #held = new Set<Abandoned>();
  #timer: NodeJS.Timeout | undefined;

  constructor(options: AbandonedSessionsOptions) {
    this.#options = options;
  }

  get count() {
    return this.#held.size;
  }

  hold(abandoned: Abandoned) {
    if (this.#isFull()) {
      abandoned.close();
      return;
    }
    this.#held.add(abandoned);
    const release = () => this.#release(abandoned);
    abandoned.statement.then(release, release);
    if (this.#isFull()) void this.#check();
    this.#timer ??= setInterval(() => void this.#check(), CHECK_MS).unref();
  }

  /** Closes all, when the pool ends, or when the server is another one. */
  closeAll() {
    for (const abandoned of this.#held) this.#release(abandoned);
  }

  #isFull() {
    return this.#held.size >= this.#options.max;
  }

  /** A server that does not respond refuses writes itself. */
  async #check() {
    try {
      if (!(await this.#options.isAnyRunning())) this.closeAll();
      this.#refuseWrites(this.#isFull());
    } catch {
      this.#refuseWrites(false);
    }
  }

  #release(abandoned: Abandoned) {
    if (!this.#held.delete(abandoned)) return;
    abandoned.close();
    if (!this.#isFull()) this.#refuseWrites(false);
    if (this.#held.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #refuseWrites(refusesWrites: boolean) {
    if (refusesWrites === this.refusesWrites) return;
    this.refusesWrites = refusesWrites;
    this.#options.onRefusal(refusesWrites);
  }
}
