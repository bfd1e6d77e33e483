import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { ConnectionUrlError, parseConnectionUrl, type Pooler } from '@rest-services/database';
import { Ajv, type ErrorObject } from 'ajv';
import { Type, type Static, type TSchema } from 'typebox';
import { trustOf } from './http/proxies.ts';

const otlpProtocol = Type.Optional(
  Type.Enum(['http/protobuf'], {
    type: 'string',
    description: 'http/protobuf, the only protocol that the service speaks, by default on port 4318',
  }),
);

/** The environment variables of a service. Each description completes the sentence "… must be". */
export const EnvironmentVariables = Type.Object({
  PORT: Type.Integer({ minimum: 0, maximum: 65_535, description: 'a TCP port, 0 to 65535 (0 takes a free one)' }),
  // All addresses of IPv6 and IPv4.
  HOST: Type.String({ minLength: 1, default: '::', description: 'an address or host name to listen on' }),
  TRUST_PROXY: Type.Optional(
    Type.String({
      description:
        'addresses of proxies such as 10.0.0.0/8, 2001:db8::1 or loopback, separated by commas, or their number',
    }),
  ),
  KEEP_ALIVE_TIMEOUT_MS: Type.Integer({
    minimum: 2_000,
    maximum: 86_400_000,
    default: 73_000,
    description: 'a time in milliseconds, 2000 to 86400000',
  }),
  NODE_ENV: Type.Enum(['development', 'production', 'test'], {
    type: 'string',
    default: 'development',
    description: 'development, production or test',
  }),
  DATABASE_URL: Type.String({
    pattern: '^postgres(ql)?://',
    description: 'set, to postgres://USER:PASSWORD@HOST:PORT/DATABASE',
  }),
  DATABASE_URL_FILE: Type.Optional(Type.String()),
  DATABASE_MIGRATION_URL: Type.Optional(
    Type.String({ pattern: '^postgres(ql)?://', description: 'postgres://USER:PASSWORD@HOST:PORT/DATABASE' }),
  ),
  DATABASE_MIGRATION_URL_FILE: Type.Optional(Type.String()),
  DATABASE_READ_URL: Type.Optional(
    Type.String({ pattern: '^postgres(ql)?://', description: 'postgres://USER:PASSWORD@HOST:PORT/DATABASE' }),
  ),
  DATABASE_READ_URL_FILE: Type.Optional(Type.String()),
  DATABASE_POOLER: Type.Optional(
    Type.Enum(['transaction', 'prepared-transaction'] satisfies Pooler[], {
      type: 'string',
      description:
        'transaction, where DATABASE_URL leads to a pooler in that mode, prepared-transaction, where it keeps prepared statements, or not set',
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
  COMPRESSION: Type.Boolean({ default: true, description: 'true or false' }),
  LOG_LEVEL: Type.Enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'], {
    type: 'string',
    default: 'info',
    description: 'fatal, error, warn, info, debug, trace or silent',
  }),
  SHUTDOWN_DELAY_MS: Type.Integer({ minimum: 0, maximum: 5_000, description: 'a time in milliseconds, 0 to 5000' }),
  OTEL_EXPORTER_OTLP_ENDPOINT: Type.Optional(
    Type.String({
      pattern: '^https?://',
      description: 'the URL of an OTLP/HTTP receiver, such as http://localhost:4318',
    }),
  ),
  OTEL_EXPORTER_OTLP_PROTOCOL: otlpProtocol,
  OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: otlpProtocol,
  OTEL_SDK_DISABLED: Type.Boolean({ default: false, description: 'true or false' }),
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
const secrets = ['DATABASE_URL', 'DATABASE_MIGRATION_URL', 'DATABASE_READ_URL'] as const;

/**
 * Reads the settings out of `environment`. For a secret `X`, the file that `X_FILE` names is read where `X` is not set.
 * @throws Error with one line that names the variable, its value (unless it is a secret) and the allowed values
 */
export function loadSettings(environment: NodeJS.ProcessEnv, defaultPort: number): Settings {
  const given = withSecrets(withoutEmpty(environment));
  const defaults = { PORT: defaultPort, SHUTDOWN_DELAY_MS: given.NODE_ENV === 'production' ? 1_000 : 0 };
  const settings = { ...defaults, ...given } as unknown;
  if (!ajv.validate<Settings>(EnvironmentVariables, settings)) throw notAllowed(nameIn(ajv.errors![0]!), given);
  // Ajv accepts every string that JavaScript converts to a number, such as 0x50.
  const noInteger = integers.find((name) => given[name] !== undefined && !/^\d+$/.test(given[name]));
  if (noInteger) throw notAllowed(noInteger, given);
  for (const name of secrets) checkUrl(name, given);
  const { TRUST_PROXY } = settings;
  if (TRUST_PROXY !== undefined && !trustOf(TRUST_PROXY)) throw notAllowed('TRUST_PROXY', given);
  return settings;
}

/** Whether spans are made and exported. */
export const isTraced = ({ OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_SDK_DISABLED }: Settings) =>
  OTEL_EXPORTER_OTLP_ENDPOINT !== undefined && !OTEL_SDK_DISABLED;

/** A connection string, and how to read its password again from the file that holds it. */
export function connectionOf(settings: Settings, name: (typeof secrets)[number]) {
  const url = settings[name];
  if (url === undefined) return undefined;
  const file = settings[`${name}_FILE`];
  return { url, ...(file === undefined ? {} : { readPassword: () => readPassword(file) }) };
}

async function readPassword(file: string) {
  const { config } = parseConnectionUrl(await readFile(file, 'utf8'));
  return config.password as string;
}

/**
 * The schema knows only how a URL begins. The driver would join lines: a second URL, password and all, to the database's name.
 */
function checkUrl(name: string, given: NodeJS.ProcessEnv) {
  const url = given[name];
  if (url === undefined) return;
  try {
    if (/[\r\n]\s*\S/.test(url)) throw new Error('more than one line');
    decodeURIComponent(url);
    parseConnectionUrl(url);
  } catch (error) {
    throw error instanceof ConnectionUrlError
      ? new Error(`${name} must be a URL ${error.message}`)
      : notAllowed(name, given);
  }
}

/** The variable that an error is about. */
const nameIn = ({ params, instancePath }: ErrorObject) =>
  (params as { missingProperty?: string }).missingProperty ?? instancePath.slice(1);

function notAllowed(name: string, given: NodeJS.ProcessEnv) {
  const was =
    given[name] === undefined
      ? 'not set'
      : (secrets as readonly string[]).includes(name)
        ? 'not that'
        : JSON.stringify(given[name]);
  const description = new Map(variables).get(name)?.description;
  return new Error(`${name} must be ${description}; it is ${was}`);
}

/** `PORT=` in an env file means that the port is not set. */
function withoutEmpty(environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== ''));
}

/** Reads `X` out of the file that `X_FILE` names, which counts as not set where `X` is set. */
function withSecrets(environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const read = secrets.map((name) => {
    const file = environment[`${name}_FILE`];
    if (environment[name]) return { [`${name}_FILE`]: undefined };
    return file ? { [name]: readSecret(`${name}_FILE`, file) } : {};
  });
  return Object.assign({}, environment, ...read) as NodeJS.ProcessEnv;
}

function readSecret(name: string, file: string) {
  try {
    const secret = readFileSync(file, 'utf8').trim();
    if (!secret) throw new Error('The file is empty');
    return secret;
  } catch (error) {
    throw new Error(`${name} must name a readable file that is not empty; it is ${JSON.stringify(file)}`, {
      cause: error,
    });
  }
}
