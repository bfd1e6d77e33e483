import { readFileSync } from 'node:fs';
import type pg from 'pg';
import { parse, toClientConfig } from 'pg-connection-string';

/** libpq's `allow` and `prefer` go on without TLS where a server has none, which the driver can't. */
const SSL_MODES = ['disable', 'require', 'verify-ca', 'verify-full'];

/** The driver can't require channel binding. `verify-full` keeps out the same servers. */
const CHANNEL_BINDINGS = ['disable', 'prefer'];

/** The parameters of libpq that are known; `uselibpqcompat` is that of node-postgres. Others are refused, which psql does too. */
const PARAMETERS = [
  ...['application_name', 'channel_binding', 'connect_timeout', 'host', 'options', 'port'],
  ...['sslcert', 'sslkey', 'sslmode', 'sslpassword', 'sslrootcert', 'uselibpqcompat'],
];

/** Completes "… must be a URL", and shows no password. */
export class ConnectionUrlError extends Error {}

/**
 * Parses a connection string such as `postgres://user:password@[::1]:5432/database?sslmode=verify-full`. Its parameters have the meanings
 * of libpq.
 * @throws ConnectionUrlError when a parameter is out of range, or a file that it names can't be read
 */
export function parseConnectionUrl(url: string): pg.ClientConfig {
  checkEncoding(url);
  const [, address, authority, query] =
    /^(postgres(?:ql)?:\/\/(?:[^/?#]*@)?([^/?#@]*)[^?#]*)(?:\?(.*))?$/s.exec(url.trim()) ?? [];
  if (!address) throw new ConnectionUrlError('such as postgres://USER:PASSWORD@HOST:PORT/DATABASE');
  // The last one of a name counts.
  const parameters = new URLSearchParams(Object.fromEntries(new URLSearchParams(query)));
  const unknown = [...parameters.keys()].filter((name) => !PARAMETERS.includes(name));
  if (unknown.length > 0)
    throw new ConnectionUrlError(`whose parameters are some of ${PARAMETERS.join(', ')}; it has ${unknown.join(', ')}`);
  if ([authority, parameters.get('host'), parameters.get('port')].some((part) => part?.includes(',')))
    throw new ConnectionUrlError('with one host: the name that always leads to the primary');
  checkTls(parameters);
  checkValue(parameters, 'channel_binding', CHANNEL_BINDINGS);
  // node-postgres advises uselibpqcompat=true, which the meanings here are.
  checkValue(parameters, 'uselibpqcompat', ['true']);
  parameters.delete('uselibpqcompat');

  const config = configOf(`${address}?${parameters.toString()}`, parameters.get('port'));
  const passphrase = parameters.get('sslpassword');
  if (passphrase && typeof config.ssl === 'object') config.ssl.passphrase = passphrase;
  return {
    ...config,
    host: config.host || undefined,
    connectionTimeoutMillis: timeoutOf(parameters.get('connect_timeout')),
  };
}

/** @param port that of the parameter, of which the parser takes the first digits */
function configOf(url: string, port: string | null) {
  try {
    const config = toClientConfig(parse(url, { useLibpqCompat: true }));
    const number = Number(port || (config.port ?? 5_432));
    if (number >= 1 && number <= 65_535 && number === (config.port ?? 5_432)) return config;
  } catch {
    // The address has another form.
  }
  throw new ConnectionUrlError('whose host is HOST:PORT, or [ADDRESS]:PORT for IPv6, with a port of 1 to 65535');
}

/** An `@` after the end of the host, outside of the value of a parameter, is that of a user or password with one of `/ ? #`. */
function checkEncoding(url: string) {
  const isCut = /^postgres(?:ql)?:\/\/[^/?#@]*[/?#](?:[^?@]*|[^=@]*)@/.test(url.trim());
  if (isCut || /%(?![0-9a-f]{2})/i.test(url))
    throw new ConnectionUrlError(
      'whose user and password are percent-encoded: percent-encode / ? # % and @ in them as %2F %3F %23 %25 and %40',
    );
}

/** @returns milliseconds; `undefined` for 0 or less, by which libpq waits without end */
function timeoutOf(text: string | null) {
  if (text !== null && !/^-?\d+$/.test(text))
    throw new ConnectionUrlError(`whose connect_timeout is a number of seconds; it is ${JSON.stringify(text)}`);
  return Number(text) > 0 ? Number(text) * 1_000 : undefined;
}

function checkTls(parameters: URLSearchParams) {
  checkValue(parameters, 'sslmode', SSL_MODES);
  // The certificate authorities that Node.js trusts.
  if (parameters.get('sslrootcert') === 'system') {
    checkValue(parameters, 'sslmode', ['verify-full'], 'sslmode with sslrootcert=system');
    parameters.delete('sslrootcert');
    parameters.set('sslmode', 'verify-full');
  }
  for (const name of ['sslrootcert', 'sslcert', 'sslkey']) {
    const file = parameters.get(name);
    if (file !== null && !isReadable(file))
      throw new ConnectionUrlError(`whose ${name} names a readable file; ${name} is ${JSON.stringify(file)}`);
  }
  if (parameters.get('sslmode') === 'verify-ca' && !parameters.get('sslrootcert'))
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

/** Checks a parameter, where there is one. */
function checkValue(parameters: URLSearchParams, name: string, allowed: readonly string[], title = name) {
  const value = parameters.get(name);
  if (value === null || allowed.includes(value)) return;
  throw new ConnectionUrlError(`whose ${title} is one of ${allowed.join(', ')}; it is ${JSON.stringify(value)}`);
}
