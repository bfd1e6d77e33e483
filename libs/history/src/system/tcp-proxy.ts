import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

export type TcpProxy = Awaited<ReturnType<typeof openProxy>>;

/** A connection is closed after this many more bytes of one direction. */
export interface Cut {
  from: 'client' | 'server';
  bytes: number;
}

interface Pair {
  cut: Cut | undefined;
  close(): void;
}

/**
 * Forwards connections of a port of its own.
 * @param target port of 127.0.0.1 for each new connection; `undefined` closes it
 */
export async function openProxy(target: () => number | undefined) {
  const pairs = new Set<Pair>();
  const listener = createServer((client) => {
    const port = target();
    if (port === undefined) return void client.destroy();
    const server = connect({ port, host: '127.0.0.1' });
    const pair: Pair = { cut: undefined, close: () => [client, server].forEach((socket) => socket.destroy()) };
    pairs.add(pair);
    client.once('close', () => pairs.delete(pair));
    forward('client', client, server, pair);
    forward('server', server, client, pair);
  }).listen(0, '127.0.0.1');
  await once(listener, 'listening');

  return {
    port: (listener.address() as AddressInfo).port,
    /** Arms all open connections: each is closed after the bytes. */
    cut: (cut: Cut) => pairs.forEach((pair) => (pair.cut ??= { ...cut })),
    close: async () => {
      pairs.forEach((pair) => pair.close());
      listener.close();
      await once(listener, 'close');
    },
  };
}

function forward(from: Cut['from'], source: Socket, target: Socket, pair: Pair) {
  source.setNoDelay(true);
  source.on('data', (chunk) => {
    const { cut } = pair;
    if (cut?.from === from && (cut.bytes -= chunk.length) < 0) {
      // The bytes before the cut arrive: they are what distinguishes one cut from another.
      target.write(chunk.subarray(0, chunk.length + cut.bytes), () => pair.close());
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
