import type pg from 'pg';
import { parseIntoClientConfig } from 'pg-connection-string';

/**
 * Parses a connection string such as `postgres://user:password@host:5432/database?sslmode=verify-full`.
 * @throws Error when its port is out of range, or a certificate that it names can't be read
 */
export function parseConnectionUrl(url: string): pg.ClientConfig {
  const config = parseIntoClientConfig(url);
  const { port = 5_432 } = config;
  if (port < 1 || port > 65_535) throw new Error(`Invalid port: ${port}`);
  return config;
}
