import pg from 'pg';
import type { Server, TargetSessionAttributes } from './connection-url.ts';

/** What a server says about itself. */
export interface ServerState {
  /** The server replays the log of another one. */
  isInRecovery: boolean;
  /** Transactions can't write: in recovery, or by `default_transaction_read_only`. */
  isReadOnly: boolean;
}

/** Age at which the state of a server behind a pooler is read again. */
const RECENT_MS = 1_000;

/** A client of pg that knows the state of its server. */
export class ServerClient extends pg.Client {
  readonly server: Server;
  /** `undefined` until the server has reported it, or `readState()` has read it. */
  state: ServerState | undefined;
  /** Number of the selection by which the server was chosen. */
  readonly selection: number;
  readonly #isBehindPooler: boolean;
  readonly #reported: Record<string, string> = {};
  #readAt = -Infinity;

  constructor(config: pg.ClientConfig, server: Server, { selection = 0, isBehindPooler = false } = {}) {
    super({ ...config, ...server });
    this.server = server;
    this.selection = selection;
    this.#isBehindPooler = isBehindPooler;
    this.connection.on('parameterStatus', ({ parameterName, parameterValue }: Record<string, string>) =>
      this.#report(parameterName!, parameterValue!),
    );
  }

  /** Whether the state has been read, behind a pooler in the last second: the pooler may have changed the server since. */
  get hasRecentState() {
    return this.#readAt > (this.#isBehindPooler ? performance.now() - RECENT_MS : -Infinity);
  }

  /**
   * Reads the state, unless the server reports it: PostgreSQL does on connecting, and when it changes, since release 14. A pooler
   * may report the state of a server that it has left.
   */
  async readState(): Promise<ServerState> {
    if (!this.state || this.#isBehindPooler) {
      const { rows } = await this.query<ServerState>(
        `select pg_is_in_recovery() as "isInRecovery", current_setting('transaction_read_only') = 'on' as "isReadOnly"`,
      );
      this.state = rows[0]!;
    }
    this.#readAt = performance.now();
    return this.state;
  }

  /** Ends the time limit of transactions that a role or database may have, since release 17; older ones know no such parameter. */
  async endTransactionTimeout() {
    if (this.#isBehindPooler || parseInt(this.#reported.server_version ?? '', 10) < 17) return;
    await this.query('set transaction_timeout = 0');
  }

  #report(name: string, value: string) {
    this.#reported[name] = value;
    const { in_hot_standby: inHotStandby, default_transaction_read_only: readOnly } = this.#reported;
    if (this.#isBehindPooler || inHotStandby === undefined) return;
    const isInRecovery = inHotStandby === 'on';
    this.state = { isInRecovery, isReadOnly: isInRecovery || readOnly === 'on' };
  }
}

/** Whether `target_session_attrs` accepts a server in this state. `prefer-standby` accepts every server. */
export function isAccepted({ isInRecovery, isReadOnly }: ServerState, attributes: TargetSessionAttributes) {
  switch (attributes) {
    case 'read-write':
      return !isReadOnly;
    case 'read-only':
      return isReadOnly;
    case 'primary':
      return !isInRecovery;
    case 'standby':
      return isInRecovery;
    default:
      return true;
  }
}
