import type { IncomingMessage } from 'node:http';
import proxyAddr from '@fastify/proxy-addr';
import type { FastifyInstance } from 'fastify';

/** Whether the headers of a peer count: that of the connection is number 0, the one that it has named number 1. */
type Trust = (address: string, number: number) => boolean;

/** @param setting TRUST_PROXY @returns `undefined` when it is not valid */
export function trustOf(setting: string): Trust | undefined {
  // Fastify trusts no proxy where it gets a number, because a client that reaches the service directly can claim to be a proxy.
  if (/^\d{1,3}$/.test(setting)) return (_address, number) => number < Number(setting);
  try {
    return proxyAddr.compile(setting.split(',').map((address) => address.trim()));
  } catch {
    return undefined;
  }
}

/** Hands the header `Forwarded` (RFC 7239) to Fastify as the `X-Forwarded-*` that it reads, unless there is an `X-Forwarded-For`. */
export function readForwarded({ server }: FastifyInstance) {
  server.prependListener('request', ({ headers }: IncomingMessage) => {
    const { forwarded, 'x-forwarded-for': known } = headers;
    if (forwarded === undefined || known !== undefined) return;
    const values = forwardedValues(forwarded);
    headers['x-forwarded-for'] = values('for').map(withoutPort).join(', ');
    headers['x-forwarded-host'] = values('host').join(', ');
    headers['x-forwarded-proto'] = values('proto').join(', ');
  });
}

function forwardedValues(header: string) {
  const pairs = [...header.matchAll(/([\w!#$%&'*+.^`|~-]+)=(?:"((?:[^"\\]|\\.)*)"|([^\s",;]*))/g)];
  return (name: string) =>
    pairs.filter(([, each]) => each!.toLowerCase() === name).map(([, , quoted, token]) => quoted ?? token!);
}

/** `192.0.2.1:4711` as `192.0.2.1`, `[2001:db8::1]:4711` as `2001:db8::1`. */
const withoutPort = (node: string) => node.replace(/^\[(.*)\](:\w+)?$/, '$1').replace(/^([^:]*):\w+$/, '$1');

/** Address of a client: IPv4 as such, which a socket for both families shows as `::ffff:192.0.2.1`. */
export const clientAddress = <Address extends string | undefined>(address: Address) =>
  address?.startsWith('::ffff:') ? address.slice(7) : address;
