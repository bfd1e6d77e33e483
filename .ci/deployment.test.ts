import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { services } from '@rest-services/workspace';
import { parse, parseAllDocuments } from 'yaml';
import { EnvironmentVariables, loadSettings } from '../libs/service/src/settings.ts';

const workspace = join(import.meta.dirname, '..');
const read = (...path: string[]) => readFileSync(join(workspace, ...path), 'utf8');

const readme = read('docker', 'README.md');
const manifest = read('docker', 'kubernetes.yaml');

const names = Object.keys(EnvironmentVariables.properties);
const isFile = (name: string) => name.endsWith('_FILE');
const files = names.filter(isFile);
const settings = names.filter((name) => !isFile(name));

const url = 'postgres://user:password@host:5432/database';

interface Container {
  name: string;
  image: string;
  command?: string[];
  env: { name: string; value?: unknown; valueFrom?: { secretKeyRef: { name: string } } }[];
  ports?: { name: string; containerPort: number }[];
  securityContext: object;
  resources: { requests: object; limits: object };
  [probe: `${string}Probe`]: { httpGet: { path: string; port: string } } | undefined;
}
interface Pod {
  securityContext: object;
  containers: [Container];
}
interface Kubernetes {
  Job: { spec: { template: { spec: Pod } } };
  Deployment: {
    spec: {
      selector: object;
      strategy: object;
      template: { metadata: { labels: object }; spec: Pod & { terminationGracePeriodSeconds: number } };
    };
  };
  Service: { spec: { selector: object; ports: { targetPort: string }[] } };
  PodDisruptionBudget: { spec: { selector: object } };
}
interface Compose {
  services: Record<string, { image: string; environment: Record<string, string>; ports: string[]; secrets: string[] }>;
  secrets: object;
}

/** Reads the cells of the table below a heading of docker/README.md. */
function table(heading: string) {
  const section = readme.split(`## ${heading}\n`)[1]!.split('\n## ')[0]!;
  const rows = section.split('\n').filter((line) => line.startsWith('|'));
  return rows.slice(2).map((row) => row.split(' | ').map((cell) => cell.replace(/^\| |\|$/g, '').trim()));
}

const plain = (cell: string) => cell.replaceAll('`', '');

const [compose] = [...readme.matchAll(/^```yaml\n(services.*?)^```$/gms)].map(([, yaml]) => parse(yaml!) as Compose);

/** Makes another service of kubernetes.yaml, as docker/README.md tells. */
function kubernetesOf(name: string, port: number) {
  const documents = parseAllDocuments(manifest.replaceAll('items', name).replaceAll('8080', `${port}`)).map(
    (document) => {
      expect(document.errors).toEqual([]);
      return document.toJS() as { kind: string };
    },
  );
  return Object.fromEntries(documents.map((document) => [document.kind, document])) as unknown as Kubernetes;
}

/** Settings with an allowed value for each whose value comes from elsewhere. */
const environmentOf = ({ env }: Container) =>
  Object.fromEntries(env.map(({ name, value, valueFrom }) => [name, valueFrom ? url : value]));

function expectAllowed(environment: Record<string, unknown>) {
  expect([...settings, ...files]).toEqual(expect.arrayContaining(Object.keys(environment)));
  for (const value of Object.values(environment)) expect(value).toEqual(expect.any(String));
  const given = Object.entries(environment).map(([name, value]) =>
    files.includes(name) ? [name.replace(/_FILE$/, ''), url] : [name, value],
  );
  // None of them changes the port.
  expect(loadSettings(Object.fromEntries(given) as NodeJS.ProcessEnv, 1).PORT).toBe(1);
}

describe('docker/README.md', () => {
  test('lists the settings that there are, each with its default', () => {
    const delay = (NODE_ENV: string) => loadSettings({ NODE_ENV, DATABASE_URL: url }, 1).SHUTDOWN_DELAY_MS;
    // What the settings leave undefined is decided where they are used.
    const defaults: Record<string, unknown> = {
      ...loadSettings({ DATABASE_URL: url }, 1),
      PORT: 'that of the service',
      DATABASE_URL: 'none, required',
      DATABASE_MIGRATION_URL: 'DATABASE_URL',
      DATABASE_POOLER: 'none',
      DATABASE_READ_URL: 'none',
      CORS_ORIGIN: 'any origin in development, none in production',
      SHUTDOWN_DELAY_MS: `${delay('production')} in production, else ${delay('development')}`,
    };
    const listed = table('Settings').map(([name, value]) => [plain(name!), plain(value!)]);
    const expected = [...settings.map((name) => [name, String(defaults[name])]), ...files.map((name) => [name, ''])];
    expect(listed.sort()).toEqual(expected.sort());
  });

  test('lists the paths that each service has', () => {
    const paths = table('Paths of each service').map(([path]) => plain(path!));
    expect(paths).toEqual(['/livez', '/readyz', '/metrics', '/openapi.json', '/docs']);
  });

  test('runs one service in Compose, with the database as a secret and its port on the machine itself only', () => {
    const { image, environment, secrets, ports } = compose!.services['items']!;
    expect(image).toBe('ghcr.io/OWNER/rest-services/items:TAG');
    expectAllowed(environment);
    expect(secrets.map((name) => `/run/secrets/${name}`)).toEqual([environment['DATABASE_URL_FILE']]);
    expect(Object.keys(compose!.secrets)).toEqual(secrets);
    expect(ports).toEqual(['127.0.0.1:8080:8080']);
  });

  test('gives the container in Compose no rights, no files to write, 256 MiB and time to drain', () => {
    expect(compose!.services['items']).toMatchObject({
      read_only: true,
      cap_drop: ['ALL'],
      security_opt: ['no-new-privileges:true'],
      mem_limit: '256m',
      ulimits: { nofile: 4096 },
      stop_grace_period: '15s',
    });
  });
});

describe.each(services())('docker/kubernetes.yaml, made into $name', ({ name: app, port }) => {
  const kubernetes = kubernetesOf(app, port);
  const pods = [kubernetes.Job, kubernetes.Deployment].map(({ spec }) => spec.template.spec);
  const [migration, service] = pods.map(({ containers }) => containers[0]) as [Container, Container];

  test('sets only settings that there are, to values that are allowed', () => {
    for (const container of [migration, service]) expectAllowed(environmentOf(container));
  });

  test('gives the database to the service as a secret', () => {
    for (const { env } of [migration, service]) {
      const secret = env.find(({ name }) => name === 'DATABASE_URL')!.valueFrom!.secretKeyRef;
      expect(secret).toEqual({ name: `${app}-database`, key: 'url' });
    }
  });

  test('opens the port that the service listens on by default', () => {
    expect(service.ports).toEqual([{ name: 'http', containerPort: port }]);
    expect(kubernetes.Service.spec.ports).toEqual([{ name: 'http', port: 80, targetPort: 'http' }]);
  });

  test('restarts pods by /livez and sends them traffic by /readyz', () => {
    const probes = (['startupProbe', 'livenessProbe', 'readinessProbe'] as const).map((name) => service[name]?.httpGet);
    expect(probes).toEqual(['/livez', '/livez', '/readyz'].map((path) => ({ path, port: 'http' })));
  });

  test('gives the containers no rights, no files to write and 256 MiB', () => {
    for (const { securityContext, containers } of pods) {
      expect(securityContext).toEqual({ runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } });
      expect(containers[0].securityContext).toEqual({
        readOnlyRootFilesystem: true,
        allowPrivilegeEscalation: false,
        capabilities: { drop: ['ALL'] },
      });
      expect(containers[0].resources).toMatchObject({ requests: { memory: '256Mi' }, limits: { memory: '256Mi' } });
    }
  });

  test('migrates in a job before the service, which is replaced with no pod missing and has time to drain', () => {
    expect(migration.command).toEqual(['node', 'main.js', 'migrate']);
    expect(service.env).toContainEqual({ name: 'MIGRATE_ON_START', value: 'false' });
    const { strategy, template } = kubernetes.Deployment.spec;
    expect(strategy).toMatchObject({ rollingUpdate: { maxUnavailable: 0 } });
    expect(template.spec.terminationGracePeriodSeconds).toBe(15);
  });

  test('runs one image, of this service, and selects its own pods', () => {
    for (const { image } of [migration, service]) expect(image).toBe(`ghcr.io/OWNER/rest-services/${app}:TAG`);
    const { Deployment, Service, PodDisruptionBudget } = kubernetes;
    expect([Deployment.spec.template.metadata.labels, Service.spec.selector]).toEqual([{ app }, { app }]);
    for (const { spec } of [Deployment, PodDisruptionBudget]) expect(spec.selector).toEqual({ matchLabels: { app } });
  });
});

test.each(services())('The README of $name says its default port and links to docker/README.md', ({ name, port }) => {
  const document = read('apps', name, 'README.md');
  expect(document).toMatch(new RegExp(`\\bport ${port}\\b|\\b${port} by default`));
  expect(document).toContain('](../../docker/README.md)');
});
