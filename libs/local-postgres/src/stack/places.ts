import { once } from 'node:events';
import { connect, createServer, isIP, isIPv6 } from 'node:net';

/** Where an app of the local stack listens. */
export interface Place {
  app: string;
  port: number;
  /** Name of the variable that has set the port, or may set it. */
  variable: string;
}

/** Name of the variable that sets the port of an app, here and in compose.yaml: `TODOS_WEB_PORT`. */
const portVariable = (app: string) => `${app.toUpperCase().replaceAll('-', '_')}_PORT`;

/**
 * The place of an app.
 * @param otherwise its port unless a variable sets it
 * @param isAlone whether it is the only one, whose port `PORT` sets as well
 * @throws Error when a variable is set to something else than a port
 */
export function placeOf(app: string, otherwise: number, isAlone = false): Place {
  const own = portVariable(app);
  const variable = [own, ...(isAlone ? ['PORT'] : [])].find((name) => process.env[name]);
  if (!variable) return { app, port: otherwise, variable: own };
  const value = process.env[variable]!;
  const port = /^\d{1,5}$/.test(value) ? Number(value) : 0;
  if (port >= 1 && port <= 65_535) return { app, port, variable };
  throw new Error(`${variable} must be a TCP port, 1 to 65535; it is ${JSON.stringify(value)}`);
}

/**
 * Address that the local stack listens on: 127.0.0.1, because it has no login, or `HOST`. Only an IP address counts: some shells and
 * conda set HOST to a machine's name, which would open the services to the network, or resolves to nothing.
 */
export function readHost() {
  const { HOST = '' } = process.env;
  const host = isIP(HOST) ? HOST : '127.0.0.1';
  return { host, isIgnored: HOST !== '' && HOST !== host };
}

/** @returns the address as it stands in a URL */
export function inUrl(host: string) {
  if (['127.0.0.1', '0.0.0.0', '::', '::1'].includes(host)) return 'localhost';
  return isIPv6(host) ? `[${host}]` : host;
}

/** @throws Error that names each port that two apps would have, or where something listens already */
export async function checkPlaces(places: Place[], host: string) {
  const problems = await Promise.all(places.map((place) => problemOf(place, places, host)));
  const found = problems.filter((problem) => problem !== undefined);
  if (found.length > 0) throw new Error([...new Set(found)].join('\n'));
}

async function problemOf({ app, port, variable }: Place, places: Place[], host: string) {
  const same = places.filter((place) => place.port === port);
  if (same.length > 1) {
    const names = (key: 'app' | 'variable', word: string) => same.map((place) => place[key]).join(` ${word} `);
    return `Port ${port} is that of ${names('app', 'and')}: ${names('variable', 'or')} chooses another one.`;
  }
  const code = (await isListening(port, host)) ? 'EADDRINUSE' : await bindingError(port, host);
  if (code === undefined) return undefined;
  if (code === 'EADDRNOTAVAIL') return `HOST is ${host}, which is not an address of this machine.`;
  const problem =
    code === 'EADDRINUSE' ? 'is taken, by another program or an earlier start' : `cannot be opened (${code})`;
  return `Port ${port}, where ${app} would listen, ${problem}: ${variable} chooses another one.`;
}

/** @returns the code of the error with which a server fails to listen */
async function bindingError(port: number, host: string) {
  const server = createServer().listen(port, host);
  try {
    await once(server, 'listening');
    return undefined;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code;
  } finally {
    server.close();
  }
}

export async function isListening(port: number, host: string) {
  const socket = connect(port, inUrl(host).replace(/^\[(.*)\]$/, '$1'));
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}
