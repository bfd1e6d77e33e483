import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { ConnectionUrlError, parseConnectionUrl } from '@rest-services/database';
import { Ajv, type ErrorObject } from 'ajv';
import { Type, type Static, type TSchema } from 'typebox';
import { trustOf } from './http/headers/proxies.ts';

const integer = (minimum: number, maximum: number, what: string, options = {}) =>
  Type.Integer({ minimum, maximum, description: `${what}, ${minimum} to ${maximum}`, ...options });

const milliseconds = 'a time in milliseconds';

const flag = (value: boolean) => Type.Boolean({ default: value, description: 'true or false' });

const oneOf = <Values extends string[]>(values: readonly [...Values], options = {}) =>
  Type.Enum(values, {
    type: 'string',
    description: `${values.slice(0, -1).join(', ')} or ${values.at(-1)}`,
    ...options,
  });

const text = (pattern: string, description: string) => Type.String({ pattern, description });

const postgresUrl = (description: string) => text('^postgres(ql)?://', description);

const otherDatabase = Type.Optional(postgresUrl('postgres://USER:PASSWORD@HOST:PORT/DATABASE'));

const secretFile = Type.Optional(Type.String());

const proxies =
  'addresses of proxies such as 10.0.0.0/8, 2001:db8::1 or loopback, separated by commas, or their number';
const poolers = 'transaction, where DATABASE_URL leads to a pooler in that mode, or not set';
const otlpReceiver = 'the URL of an OTLP/HTTP receiver, such as http://localhost:4318';
const otlpProtocols = 'http/protobuf, the only protocol that the service speaks, by default on port 4318';
const otlpProtocol = Type.Optional(oneOf(['http/protobuf'], { description: otlpProtocols }));

/** The environment variables of a service. Each description completes the sentence "… must be". */
export const EnvironmentVariables = Type.Object({
  PORT: integer(0, 65_535, 'a TCP port', { description: 'a TCP port, 0 to 65535 (0 takes a free one)' }),
  // Empty: all addresses, of IPv6 and IPv4 where the system has both.
  HOST: Type.String({ default: '', description: 'an address or host name to listen on' }),
  TRUST_PROXY: Type.Optional(Type.String({ description: proxies })),
  KEEP_ALIVE_TIMEOUT_MS: integer(2_000, 86_400_000, milliseconds, { default: 73_000 }),
  NODE_ENV: oneOf(['development', 'production', 'test'], { default: 'development' }),
  DATABASE_URL: postgresUrl('set, to postgres://USER:PASSWORD@HOST:PORT/DATABASE'),
  DATABASE_URL_FILE: secretFile,
  DATABASE_MIGRATION_URL: otherDatabase,
  DATABASE_MIGRATION_URL_FILE: secretFile,
  DATABASE_READ_URL: otherDatabase,
  DATABASE_READ_URL_FILE: secretFile,
  DATABASE_POOLER: Type.Optional(oneOf(['transaction'], { description: poolers })),
  DATABASE_POOL_MAX: integer(1, 1_000, 'a number of connections', { default: 10 }),
  MIGRATE_ON_START: flag(true),
  CORS_ORIGIN: Type.Optional(
    text(
      String.raw`^(\*|https?://[^\s/,*]+(:\*)?(,\s*https?://[^\s/,*]+(:\*)?)*)$`,
      '* or a comma-separated list of origins such as https://example.org or http://localhost:*',
    ),
  ),
  LOG_LEVEL: oneOf(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'], { default: 'info' }),
  SHUTDOWN_DELAY_MS: integer(0, 5_000, milliseconds),
  OTEL_EXPORTER_OTLP_ENDPOINT: Type.Optional(text('^https?://', otlpReceiver)),
  OTEL_EXPORTER_OTLP_PROTOCOL: otlpProtocol,
  OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: otlpProtocol,
  OTEL_SDK_DISABLED: flag(false),
});

// env-schema would make two validators more, and one of JSON Schema itself: a fifth of the time that a start takes.
const reading = { coerceTypes: true, useDefaults: true, removeAdditional: 'all' } as const;
const ajv = new Ajv({ ...reading, meta: false, validateSchema: false });

type Variable = TSchema & { type?: string; description?: string };

/** What operators set through the environment, checked. docker/README.md lists it. */
export type Settings = Static<typeof EnvironmentVariables>;

const variables = Object.entries(EnvironmentVariables.properties as Record<string, Variable>);
const secrets = ['DATABASE_URL', 'DATABASE_MIGRATION_URL', 'DATABASE_READ_URL'] as const;

/**
 * Reads the settings out of `environment`. For a secret `X`, the file that `X_FILE` names is read where `X` is not set.
 * @throws Error with one line that names the variable, its value (unless it is a secret) and the allowed values
 */
export function loadSettings(environment: NodeJS.ProcessEnv, defaultPort: number): Settings {
  const given = withSecrets(withoutEmpty(environment));
  const defaults = { PORT: defaultPort, SHUTDOWN_DELAY_MS: given.NODE_ENV === 'production' ? 1_000 : 0 };
  const settings = { ...defaults, ...given } as unknown;
  for (const name of secrets) checkUrl(name, given);
  if (!ajv.validate<Settings>(EnvironmentVariables, settings)) throw notAllowed(nameIn(ajv.errors![0]!), given);
  // Ajv accepts every string that JavaScript converts to a number, such as 0x50.
  const noInteger = variables.find(([name, { type }]) => type === 'integer' && /\D/.test(given[name] ?? ''));
  if (noInteger) throw notAllowed(noInteger[0], given);
  const { TRUST_PROXY, OTEL_EXPORTER_OTLP_ENDPOINT: endpoint } = settings;
  // OpenTelemetry would send traces to localhost instead.
  if (endpoint !== undefined && !URL.canParse(endpoint)) throw notAllowed('OTEL_EXPORTER_OTLP_ENDPOINT', given);
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
  return parseConnectionUrl(await readFile(file, 'utf8')).password as string;
}

/**
 * The schema knows only how a URL begins. The driver would join lines: a second URL, password and all, to the database's name.
 */
function checkUrl(name: string, given: NodeJS.ProcessEnv) {
  const url = given[name];
  if (url === undefined) return;
  try {
    if (/[\r\n]\s*\S/.test(url)) throw new Error('more than one line');
    // As an env file of Docker has them, which is not a shell.
    if (/^\s*["']/.test(url)) throw new ConnectionUrlError('without quotation marks around it');
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
  const isSecret = (secrets as readonly string[]).includes(name);
  const was = given[name] === undefined ? 'not set' : isSecret ? 'not that' : JSON.stringify(given[name]);
  return new Error(`${name} must be ${new Map(variables).get(name)?.description}; it is ${was}`);
}

/** `PORT=` in an env file means that the port is not set. */
function withoutEmpty(environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== ''));
}

/** Reads `X` out of the file that `X_FILE` names, which counts as not set where `X` is set. */
function withSecrets(environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const read = secrets.map((name) => {
    const file = environment[`${name}_FILE`];
    const value = environment[name]?.trim();
    if (value) return { [name]: value, [`${name}_FILE`]: undefined };
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
