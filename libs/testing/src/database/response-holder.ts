import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/** A way to a database server on which what the server sends can be held back, as if it were still on its way. */
export async function openResponseHolder(databaseUrl: string) {
  const target = new URL(databaseUrl);
  const connections = new Map<Socket, Socket>();
  let isHolding = false;
  const proxy = createServer((client) => {
    const server = connect({ port: Number(target.port), host: target.hostname });
    connections.set(client, server);
    client.pipe(server);
    if (!isHolding) server.pipe(client);
    for (const [socket, other] of [
      [client, server],
      [server, client],
    ] as const) {
      socket.on('error', () => undefined).on('close', () => other.destroy());
    }
    client.on('close', () => connections.delete(client));
  }).listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  const url = new URL(databaseUrl);
  url.host = `127.0.0.1:${(proxy.address() as AddressInfo).port}`;

  return {
    /** Connection string of the database by this way. */
    url: url.href,
    hold: () => {
      isHolding = true;
      connections.forEach((server, client) => server.unpipe(client));
    },
    release: () => {
      isHolding = false;
      connections.forEach((server, client) => server.pipe(client));
    },
    close: async () => {
      connections.forEach((_server, client) => client.destroy());
      proxy.close();
      await once(proxy, 'close');
    },
  };
}
