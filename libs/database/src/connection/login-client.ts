import pg from 'pg';

/**
 * Closes its connection when the login fails, such as for a password file that is empty for a moment. The driver leaves it open until the
 * server gives up, after a minute: one for each request would take all connections of the server.
 */
export class LoginClient extends pg.Client {
  override async connect(callback?: (error: never, client: pg.Client) => void) {
    let failure: unknown = null;
    await super.connect().catch((error: unknown) => (failure = error));
    if (failure !== null) void this.end();
    callback?.(failure as never, this);
    return this;
  }
}
