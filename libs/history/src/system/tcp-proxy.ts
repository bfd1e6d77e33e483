import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

export type TcpProxy = Awaited<ReturnType<typeof openProxy>>;

/** A connection is closed after this many more bytes of one direction. */
export interface Cut {
  from: 'client' | 'server';
  bytes: number;
}

/**
 * Forwards connections of a port of its own.
 * @param target port of 127.0.0.1 for each new connection; `undefined` closes it
 */
export async function openProxy(target: () => number | undefined) {
  const pairs = new Set<Pair>();
  const server = createServer((client) => {
    const port = target();
    if (port === undefined) return client.destroy();
    const pair = new Pair(client, connect({ port, host: '127.0.0.1' }));
    pairs.add(pair);
    pair.onClose(() => pairs.delete(pair));
    return undefined;
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');

  return {
    port: (server.address() as AddressInfo).port,
    /** Arms all open connections: each is closed after the bytes. */
    cut: (cut: Cut) => pairs.forEach((pair) => pair.arm(cut)),
    close: async () => {
      pairs.forEach((pair) => pair.close());
      server.close();
      await once(server, 'close');
    },
  };
}

class Pair {
  readonly #sockets: { client: Socket; server: Socket };
  #cut: Cut | undefined;

  constructor(client: Socket, server: Socket) {
    this.#sockets = { client, server };
    this.#forward('client', client, server);
    this.#forward('server', server, client);
  }

  arm(cut: Cut) {
    this.#cut ??= { ...cut };
  }

  close() {
    this.#sockets.client.destroy();
    this.#sockets.server.destroy();
  }

  onClose(listener: () => void) {
    this.#sockets.client.once('close', listener);
  }

  #forward(from: Cut['from'], source: Socket, target: Socket) {
    source.setNoDelay(true);
    source.on('data', (chunk) => {
      const cut = this.#cut;
      if (cut?.from === from && (cut.bytes -= chunk.length) < 0) {
        // The bytes before the cut arrive: they are what distinguishes one cut from another.
        target.write(chunk.subarray(0, chunk.length + cut.bytes), () => this.close());
        source.removeAllListeners('data').resume();
      } else if (!target.write(chunk)) {
        source.pause();
        target.once('drain', () => source.resume());
      }
    });
    source.on('end', () => target.end());
    source.on('error', () => undefined);
    source.on('close', () => target.destroy());
  }
}
