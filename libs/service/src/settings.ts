import { readFileSync } from 'node:fs';
import { parseConnectionUrl } from '@rest-services/database';
import { Ajv, type ErrorObject } from 'ajv';
import { Type, type Static, type TSchema } from 'typebox';

// Each description completes the sentence "… must be".
const EnvironmentVariables = Type.Object({
  PORT: Type.Integer({ minimum: 0, maximum: 65_535, description: 'a TCP port, 0 to 65535 (0 takes a free one)' }),
  HOST: Type.String({ minLength: 1, default: '0.0.0.0', description: 'an address or host name to listen on' }),
  NODE_ENV: Type.Enum(['development', 'production', 'test'], {
    type: 'string',
    default: 'development',
    description: 'development, production or test',
  }),
  DATABASE_URL: Type.String({
    pattern: '^postgres(ql)?://',
    description: 'set, to postgres://USER:PASSWORD@HOST:PORT/DATABASE',
  }),
  DATABASE_MIGRATION_URL: Type.Optional(
    Type.String({ pattern: '^postgres(ql)?://', description: 'postgres://USER:PASSWORD@HOST:PORT/DATABASE' }),
  ),
  DATABASE_POOLER: Type.Optional(
    Type.Enum(['transaction'], {
      type: 'string',
      description: 'transaction, where DATABASE_URL leads to a pooler in that mode, or not set',
    }),
  ),
  DATABASE_POOL_MAX: Type.Integer({
    minimum: 1,
    maximum: 1_000,
    default: 10,
    description: 'a number of connections, 1 to 1000',
  }),
  MIGRATE_ON_START: Type.Boolean({ default: true, description: 'true or false' }),
  CORS_ORIGIN: Type.Optional(
    Type.String({
      pattern: String.raw`^(\*|https?://[^\s/,*]+(:\*)?(,\s*https?://[^\s/,*]+(:\*)?)*)$`,
      description: '* or a comma-separated list of origins such as https://example.org or http://localhost:*',
    }),
  ),
  LOG_LEVEL: Type.Enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'], {
    type: 'string',
    default: 'info',
    description: 'fatal, error, warn, info, debug, trace or silent',
  }),
  SHUTDOWN_DELAY_MS: Type.Integer({ minimum: 0, maximum: 5_000, description: 'a time in milliseconds, 0 to 5000' }),
});

// env-schema would make two validators more, and one of JSON Schema itself: a fifth of the time that a start takes.
const ajv = new Ajv({
  coerceTypes: true,
  useDefaults: true,
  removeAdditional: 'all',
  meta: false,
  validateSchema: false,
});

type Variable = TSchema & { type?: string; description?: string };

/** What operators set through the environment, checked; see the table in the README of each service. */
export type Settings = Static<typeof EnvironmentVariables>;

const variables = Object.entries(EnvironmentVariables.properties as Record<string, Variable>);
const integers = variables.filter(([, { type }]) => type === 'integer').map(([name]) => name);
const secrets = ['DATABASE_URL', 'DATABASE_MIGRATION_URL'];

/**
 * Reads the settings out of `environment`. For a secret `X`, the file that `X_FILE` names is read where `X` is not set.
 * @throws Error with one line that names the variable, its value (unless it is a secret) and the allowed values
 */
export function loadSettings(environment: NodeJS.ProcessEnv, defaultPort: number): Settings {
  const given = { ...withoutEmpty(environment), ...secretsFromFiles(environment) };
  const defaults = { PORT: defaultPort, SHUTDOWN_DELAY_MS: given.NODE_ENV === 'production' ? 1_000 : 0 };
  const settings = { ...defaults, ...given } as unknown;
  if (!ajv.validate<Settings>(EnvironmentVariables, settings)) throw notAllowed(nameIn(ajv.errors![0]!), given);
  // Ajv accepts every string that JavaScript converts to a number, such as 0x50.
  const noInteger = integers.find((name) => given[name] !== undefined && !/^\d+$/.test(given[name]));
  if (noInteger) throw notAllowed(noInteger, given);
  const noUrl = secrets.find((name) => !isUrl(given[name]));
  if (noUrl) throw fileNotReadable(noUrl, given[noUrl]!) ?? notAllowed(noUrl, given);
  return settings;
}

/** The schema knows only how a URL begins. The driver would join lines: a second URL, password and all, to the database's name. */
function isUrl(text: string | undefined) {
  try {
    if (text === undefined) return true;
    return !/[\r\n]\s*\S/.test(text) && Boolean(decodeURIComponent(text) && parseConnectionUrl(text));
  } catch {
    return false;
  }
}

/** @returns `undefined` when each file that the connection URL names can be read */
function fileNotReadable(name: string, url: string) {
  const parameters = new URLSearchParams(url.trim().split('?')[1]);
  const parameter = ['sslrootcert', 'sslcert', 'sslkey'].find((each) => !isReadable(parameters.get(each)));
  if (!parameter) return undefined;
  const was = JSON.stringify(parameters.get(parameter));
  return new Error(`${name} must be a URL whose ${parameter} names a readable file; ${parameter} is ${was}`);
}

function isReadable(file: string | null) {
  try {
    if (file) readFileSync(file);
    return true;
  } catch {
    return false;
  }
}

/** The variable that an error is about. */
const nameIn = ({ params, instancePath }: ErrorObject) =>
  (params as { missingProperty?: string }).missingProperty ?? instancePath.slice(1);

function notAllowed(name: string, given: NodeJS.ProcessEnv) {
  const was = given[name] === undefined ? 'not set' : secrets.includes(name) ? 'not that' : JSON.stringify(given[name]);
  const description = new Map(variables).get(name)?.description;
  return new Error(`${name} must be ${description}; it is ${was}`);
}

/** `PORT=` in an env file means that the port is not set. */
function withoutEmpty(environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== ''));
}

function secretsFromFiles(environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const read = secrets.flatMap((name) => {
    const file = environment[`${name}_FILE`];
    if (!file || environment[name]) return [];
    try {
      const secret = readFileSync(file, 'utf8').trim();
      if (!secret) throw new Error('The file is empty');
      return [[name, secret]];
    } catch (error) {
      const was = JSON.stringify(file);
      throw new Error(`${name}_FILE must name a readable file that is not empty; it is ${was}`, { cause: error });
    }
  });
  return Object.fromEntries(read) as NodeJS.ProcessEnv;
}
