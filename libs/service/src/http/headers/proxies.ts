import { isIPv4 } from 'node:net';
import proxyAddr from '@fastify/proxy-addr';

/** Whether the headers of a peer count: that of the connection is number 0, the one that it has named number 1. */
type Trust = (address: string, number: number) => boolean;

/** @param setting TRUST_PROXY @returns Fastify's `trustProxy`, or `undefined` when the setting is not valid */
export function trustOf(setting: string): Trust | undefined {
  // Fastify trusts no proxy where it gets a number, because a client that reaches the service directly can claim to be a proxy.
  if (/^\d{1,3}$/.test(setting)) return (_address, number) => number < Number(setting);
  // The parser takes 1000 for 0.0.3.232.
  if (/^[\d.]+$/.test(setting) && !isIPv4(setting)) return undefined;
  try {
    return proxyAddr.compile(setting.split(',').map((address) => address.trim()));
  } catch {
    return undefined;
  }
}

/** Address of a client: IPv4 as such, which a socket for both families shows as `::ffff:192.0.2.1`. */
export const clientAddress = <Address extends string | undefined>(address: Address) =>
  address?.startsWith('::ffff:') ? address.slice(7) : address;
