import pg from 'pg';

/**
 * Closes its connection when the login fails, such as for a password file that is empty for a moment. The driver leaves it open until the
 * server gives up, after a minute: one for each request would take all connections of the server.
 */
export class LoginClient extends pg.Client {
  /** As pg-pool calls it. */
  override connect(callback?: (error: never, client: pg.Client) => void) {
    // Without a promise: pg-pool has to listen before the driver reads on, where the server may have ended the session.
    super.connect((error: Error | null) => {
      if (error) void this.end();
      callback?.(error as never, this);
    });
    return this as never;
  }
}
