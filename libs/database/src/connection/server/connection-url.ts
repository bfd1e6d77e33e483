import { readFileSync } from 'node:fs';
import type pg from 'pg';
import { parse, toClientConfig } from 'pg-connection-string';

/** Address of a PostgreSQL server. Without a host or a port, the driver's default. */
export interface Server {
  host?: string;
  port?: number;
}

/** A server as logs and metrics name it, such as `db-1:5432`. */
export const nameOf = ({ host, port }: Server) => `${host ?? 'default'}:${port ?? 5_432}`;

/** Which servers a session may have, as in libpq: https://www.postgresql.org/docs/current/libpq-connect.html. */
export type TargetSessionAttributes = (typeof TARGET_SESSION_ATTRIBUTES)[number];

const TARGET_SESSION_ATTRIBUTES = ['any', 'read-write', 'read-only', 'primary', 'standby', 'prefer-standby'] as const;

/** libpq's `allow` and `prefer` go on without TLS where a server has none, which the driver can't. */
const SSL_MODES = ['disable', 'require', 'verify-ca', 'verify-full'];

/** A connection string, parsed. */
export interface ConnectionTarget {
  /** In the order of the connection string. */
  servers: Server[];
  targetSessionAttributes: TargetSessionAttributes;
  /** `connect_timeout`: timeout for each server; `undefined` without one. */
  connectTimeoutMs: number | undefined;
  /** Options of the driver for a session on any of the servers. */
  config: pg.ClientConfig;
}

/** Completes "… must be a URL", and shows no password. */
export class ConnectionUrlError extends Error {}

/**
 * Parses a connection string such as `postgres://user:password@a:5432,[::1]/database?target_session_attrs=read-write&sslmode=verify-full`.
 * Its parameters have the meanings of libpq.
 * @throws ConnectionUrlError when a parameter is out of range, or a file that it names can't be read
 */
export function parseConnectionUrl(url: string): ConnectionTarget {
  checkEncoding(url);
  const [, scheme, credentials, authority, path, query] =
    /^(postgres(?:ql)?:\/\/)(?:([^/?#]*)@)?([^/?#@]*)([^?#]*)(?:\?(.*))?$/s.exec(url.trim()) ?? [];
  if (!scheme) throw new ConnectionUrlError('such as postgres://USER:PASSWORD@HOST:PORT/DATABASE');
  const parameters = new URLSearchParams(query);
  const take = (name: string) => {
    const value = parameters.get(name);
    parameters.delete(name);
    return value;
  };

  const servers = parseServers(authority!, take('host'), take('port'));
  const targetSessionAttributes = take('target_session_attrs') ?? 'any';
  if (!isTargetSessionAttributes(targetSessionAttributes))
    throw notAllowed('target_session_attrs', TARGET_SESSION_ATTRIBUTES, targetSessionAttributes);
  const connectTimeoutMs = parseTimeout(take('connect_timeout'));
  checkTls(parameters);
  // node-postgres advises uselibpqcompat=true, which the meanings here are.
  const compatible = take('uselibpqcompat');
  if (compatible !== null && compatible !== 'true') throw notAllowed('uselibpqcompat', ['true'], compatible);

  // The host is replaced for each session.
  const rest = `${scheme}${credentials === undefined ? '' : `${credentials}@`}localhost${path}?${parameters.toString()}`;
  const passphrase = take('sslpassword');
  const config = toClientConfig(parse(rest, { useLibpqCompat: true }));
  delete config.host;
  if (passphrase && typeof config.ssl === 'object') config.ssl.passphrase = passphrase;
  return { servers, targetSessionAttributes, connectTimeoutMs, config };
}

/** An `@` after the end of the hosts, outside of the value of a parameter, is that of a user or password with one of `/ ? #`. */
function checkEncoding(url: string) {
  const isCut = /^postgres(?:ql)?:\/\/[^/?#@]*[/?#](?:[^?@]*|[^=@]*)@/.test(url.trim());
  if (isCut || /%(?![0-9a-f]{2})/i.test(url)) throw new ConnectionUrlError(PERCENT_ENCODE);
}

const PERCENT_ENCODE =
  'whose user and password are percent-encoded: percent-encode / ? # % and @ in them as %2F %3F %23 %25 and %40';

/** Hosts and ports of the authority, which the parameters `host` and `port` replace. */
function parseServers(authority: string, host: string | null, port: string | null): Server[] {
  const inAuthority = authority.split(',').map((each) => {
    const [, address, number] = /^(\[[^\]]*\]|[^:]*)(?::(.*))?$/s.exec(each) ?? [];
    if (address === undefined) throw new ConnectionUrlError(`whose hosts are HOST:PORT, or [ADDRESS]:PORT for IPv6`);
    return { host: decodeURIComponent(address.replace(/^\[(.*)\]$/, '$1')), port: number ?? '' };
  });
  const hosts = host?.split(',') ?? inAuthority.map((each) => each.host);
  const ports = port?.split(',') ?? inAuthority.map((each) => each.port);
  if (hosts.length > 1 && hosts.includes('')) throw new ConnectionUrlError('whose list of hosts has no empty one');
  if (ports.length > 1 && ports.length !== hosts.length)
    throw new ConnectionUrlError(`with one port, or one for each host; it has ${ports.length} for ${hosts.length}`);
  return hosts.map((each, index) => ({
    ...(each ? { host: each } : {}),
    ...parsePort(ports[index] ?? ports[0]!),
  }));
}

function parsePort(text: string) {
  if (text === '') return {};
  const port = /^\d+$/.test(text) ? Number(text) : 0;
  if (port >= 1 && port <= 65_535) return { port };
  throw new ConnectionUrlError('whose ports are 1 to 65535');
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

const isTargetSessionAttributes = (text: string): text is TargetSessionAttributes =>
  (TARGET_SESSION_ATTRIBUTES as readonly string[]).includes(text);

function notAllowed(name: string, allowed: readonly string[], value: string) {
  return new ConnectionUrlError(`whose ${name} is one of ${allowed.join(', ')}; it is ${JSON.stringify(value)}`);
}
