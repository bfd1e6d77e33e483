import { readFileSync } from 'node:fs';
import type pg from 'pg';
import { parse, toClientConfig } from 'pg-connection-string';

/** Address of a PostgreSQL server. Without a host or a port, the driver's default. */
export interface Server {
  host?: string | undefined;
  port?: number | undefined;
}

/** A server as logs name it, such as `db:5432`. */
export const nameOf = ({ host, port }: Server) => `${host ?? 'default'}:${port ?? 5_432}`;

/** libpq's `allow` and `prefer` go on without TLS where a server has none, which the driver can't. */
const SSL_MODES = ['disable', 'require', 'verify-ca', 'verify-full'];

/** The driver can't require channel binding. `verify-full` keeps out the same servers. */
const CHANNEL_BINDINGS = ['disable', 'prefer'];

/** The parameters of libpq that are known; `uselibpqcompat` is that of node-postgres. Others are refused, which psql does too. */
const PARAMETERS = [
  ...['application_name', 'channel_binding', 'connect_timeout', 'host', 'options', 'port'],
  ...['sslcert', 'sslkey', 'sslmode', 'sslpassword', 'sslrootcert', 'uselibpqcompat'],
];

/** A connection string, parsed. */
export interface ConnectionTarget {
  server: Server;
  database: string | undefined;
  /** `connect_timeout`; `undefined` without one. */
  connectTimeoutMs: number | undefined;
  /** Options of the driver for a session. */
  config: pg.ClientConfig;
}

/** Completes "… must be a URL", and shows no password. */
export class ConnectionUrlError extends Error {}

/**
 * Parses a connection string such as `postgres://user:password@[::1]:5432/database?sslmode=verify-full`. Its parameters have the meanings
 * of libpq.
 * @throws ConnectionUrlError when a parameter is out of range, or a file that it names can't be read
 */
export function parseConnectionUrl(url: string): ConnectionTarget {
  checkEncoding(url);
  const [, scheme, credentials, authority, path, query] =
    /^(postgres(?:ql)?:\/\/)(?:([^/?#]*)@)?([^/?#@]*)([^?#]*)(?:\?(.*))?$/s.exec(url.trim()) ?? [];
  if (!scheme) throw new ConnectionUrlError('such as postgres://USER:PASSWORD@HOST:PORT/DATABASE');
  // The last one of a name counts.
  const parameters = new URLSearchParams(Object.fromEntries(new URLSearchParams(query)));
  const unknown = [...parameters.keys()].find((name) => !PARAMETERS.includes(name));
  if (unknown !== undefined)
    throw new ConnectionUrlError(`whose parameters are some of ${PARAMETERS.join(', ')}; ${unknown} is not`);
  const take = (name: string) => {
    const value = parameters.get(name);
    parameters.delete(name);
    return value;
  };

  const server = parseServer(authority!, take('host'), take('port'));
  const connectTimeoutMs = parseTimeout(take('connect_timeout'));
  checkTls(parameters);
  const binding = take('channel_binding');
  if (binding !== null && !CHANNEL_BINDINGS.includes(binding))
    throw notAllowed('channel_binding', CHANNEL_BINDINGS, binding);
  // node-postgres advises uselibpqcompat=true, which the meanings here are.
  const compatible = take('uselibpqcompat');
  if (compatible !== null && compatible !== 'true') throw notAllowed('uselibpqcompat', ['true'], compatible);

  const rest = `${scheme}${credentials === undefined ? '' : `${credentials}@`}localhost${path}?${parameters.toString()}`;
  const passphrase = take('sslpassword');
  const config = Object.assign(toClientConfig(parse(rest, { useLibpqCompat: true })), server);
  if (passphrase && typeof config.ssl === 'object') config.ssl.passphrase = passphrase;
  return { server, database: config.database, connectTimeoutMs, config };
}

/** An `@` after the end of the host, outside of the value of a parameter, is that of a user or password with one of `/ ? #`. */
function checkEncoding(url: string) {
  const isCut = /^postgres(?:ql)?:\/\/[^/?#@]*[/?#](?:[^?@]*|[^=@]*)@/.test(url.trim());
  if (isCut || /%(?![0-9a-f]{2})/i.test(url)) throw new ConnectionUrlError(PERCENT_ENCODE);
}

const PERCENT_ENCODE =
  'whose user and password are percent-encoded: percent-encode / ? # % and @ in them as %2F %3F %23 %25 and %40';

/** Host and port of the authority, which the parameters `host` and `port` replace. */
function parseServer(authority: string, host: string | null, port: string | null): Server {
  const [, address, ownPort] = /^(\[[^\]]*\]|[^:]*)(?::(.*))?$/s.exec(authority) ?? [];
  if (address === undefined) throw new ConnectionUrlError('whose host is HOST:PORT, or [ADDRESS]:PORT for IPv6');
  const name = host ?? decodeURIComponent(address.replace(/^\[(.*)\]$/, '$1'));
  if (/,/.test(authority + name + (port ?? '')))
    throw new ConnectionUrlError('with one host: the name that always leads to the primary');
  return { host: name || undefined, port: parsePort(port ?? ownPort ?? '') };
}

function parsePort(text: string) {
  if (text === '') return undefined;
  const port = /^\d+$/.test(text) ? Number(text) : 0;
  if (port >= 1 && port <= 65_535) return port;
  throw new ConnectionUrlError('whose port is 1 to 65535');
}

/** @returns milliseconds; `undefined` for 0 or less, by which libpq waits without end */
function parseTimeout(text: string | null) {
  if (text === null) return undefined;
  if (!/^-?\d+$/.test(text))
    throw new ConnectionUrlError(`whose connect_timeout is a number of seconds; it is ${JSON.stringify(text)}`);
  return Number(text) > 0 ? Number(text) * 1_000 : undefined;
}

function checkTls(parameters: URLSearchParams) {
  const mode = parameters.get('sslmode');
  if (mode !== null && !SSL_MODES.includes(mode)) throw notAllowed('sslmode', SSL_MODES, mode);
  // The certificate authorities that Node.js trusts.
  const isSystem = parameters.get('sslrootcert') === 'system';
  if (isSystem) {
    if (mode !== null && mode !== 'verify-full')
      throw notAllowed('sslmode with sslrootcert=system', ['verify-full'], mode);
    parameters.delete('sslrootcert');
    parameters.set('sslmode', 'verify-full');
  }
  for (const name of ['sslrootcert', 'sslcert', 'sslkey']) {
    const file = parameters.get(name);
    if (file !== null && !isReadable(file))
      throw new ConnectionUrlError(`whose ${name} names a readable file; ${name} is ${JSON.stringify(file)}`);
  }
  if (mode === 'verify-ca' && !parameters.get('sslrootcert'))
    throw new ConnectionUrlError('whose sslrootcert names the certificate authority of sslmode=verify-ca');
}

function isReadable(file: string) {
  try {
    readFileSync(file);
    return true;
  } catch {
    return false;
  }
}

function notAllowed(name: string, allowed: readonly string[], value: string) {
  return new ConnectionUrlError(`whose ${name} is one of ${allowed.join(', ')}; it is ${JSON.stringify(value)}`);
}
