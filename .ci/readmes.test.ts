import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { services } from '@rest-services/workspace';
import { parseAllDocuments } from 'yaml';
import { loadSettings } from '../libs/service/src/settings.ts';

const workspace = join(import.meta.dirname, '..');
const read = (...path: string[]) => readFileSync(join(workspace, ...path), 'utf8');

const source = read('libs/service/src/settings.ts');
const settings = [...source.matchAll(/^ {2}([A-Z_]+): Type\./gm)].map((match) => match[1]!);
const secrets = [.../^const secrets = \[(.*)\];$/m.exec(source)![1]!.matchAll(/'(\w+)'/g)].map((match) => match[1]!);
const files = secrets.map((secret) => `${secret}_FILE`);

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

/** The cells of the rows of the table below a heading. */
function table(readme: string, heading: string) {
  const section = readme.split(`## ${heading}\n`)[1]!.split('\n## ')[0]!;
  const rows = section.split('\n').filter((line) => line.startsWith('|'));
  return rows.slice(2).map((row) => row.split(' | ').map((cell) => cell.replace(/^\| |\|$/g, '').trim()));
}

const plain = (cell: string) => cell.replaceAll('`', '');

describe.each(services())('The README of $name', ({ name: app, port }) => {
  const readme = read('apps', app, 'README.md');

  const documents = [...readme.matchAll(/^```yaml\n(.*?)^```$/gms)].flatMap((match) =>
    parseAllDocuments(match[1]!).map((document) => {
      expect(document.errors).toEqual([]);
      return document.toJS() as { kind?: string };
    }),
  );
  const compose = documents.find((document) => 'services' in document) as unknown as Compose;
  const kubernetes = Object.fromEntries(
    documents.flatMap((document) => (document.kind ? [[document.kind, document]] : [])),
  ) as unknown as Kubernetes;
  const pods = [kubernetes.Job, kubernetes.Deployment].map(({ spec }) => spec.template.spec);
  const [migration, service] = pods.map(({ containers }) => containers[0]) as [Container, Container];

  /** Variables of each snippet; those whose value comes from elsewhere have an allowed one. */
  const environments: Record<string, unknown>[] = [
    ...Object.values(compose.services).map(({ environment }) => environment),
    ...[migration, service].map(({ env }) =>
      Object.fromEntries(env.map(({ name, value, valueFrom }) => [name, valueFrom ? url : value])),
    ),
  ];

  test('lists the settings that there are, each with its default', () => {
    const delay = (NODE_ENV: string) => loadSettings({ NODE_ENV, DATABASE_URL: url }, port).SHUTDOWN_DELAY_MS;
    // What the settings leave undefined is decided where they are used.
    const defaults: Record<string, unknown> = {
      ...loadSettings({ DATABASE_URL: url }, port),
      DATABASE_URL: 'none, required',
      DATABASE_MIGRATION_URL: 'DATABASE_URL',
      DATABASE_POOLER: 'none',
      CORS_ORIGIN: 'any origin in development, none in production',
      SHUTDOWN_DELAY_MS: `${delay('production')} in production, else ${delay('development')}`,
    };
    const listed = table(readme, 'Settings').map(([name, value]) => [plain(name!), plain(value!)]);
    const expected = [...settings.map((name) => [name, String(defaults[name])]), ...files.map((name) => [name, ''])];
    expect(listed.sort()).toEqual(expected.sort());
  });

  test('sets only settings that there are, to values that are allowed', () => {
    expect(environments).toHaveLength(3);
    for (const environment of environments) {
      expect([...settings, ...files]).toEqual(expect.arrayContaining(Object.keys(environment)));
      for (const value of Object.values(environment)) expect(value).toEqual(expect.any(String));
      // What the file holds is not here to be read.
      const given = Object.entries(environment).map(([name, value]) =>
        files.includes(name) ? [name.replace(/_FILE$/, ''), url] : [name, value],
      );
      // None of them moves the port.
      const { PORT } = loadSettings(Object.fromEntries(given) as NodeJS.ProcessEnv, 1);
      expect(PORT).toBe(1);
    }
  });

  test('gives the database to the service as a secret', () => {
    for (const { env } of [migration, service]) {
      const secret = env.find(({ name }) => name === 'DATABASE_URL')!.valueFrom!.secretKeyRef;
      expect(secret).toEqual({ name: `${app}-database`, key: 'url' });
    }
    const { environment, secrets } = compose.services[app]!;
    expect(secrets.map((name) => `/run/secrets/${name}`)).toEqual([environment['DATABASE_URL_FILE']]);
    expect(Object.keys(compose.secrets)).toEqual(secrets);
  });

  test('opens the port that the service listens on by default', () => {
    // Only for the machine itself: the services have no login.
    expect(compose.services[app]!.ports).toEqual([`127.0.0.1:${port}:${port}`]);
    expect(service.ports).toEqual([{ name: 'http', containerPort: port }]);
    expect(kubernetes.Service.spec.ports).toEqual([{ name: 'http', port: 80, targetPort: 'http' }]);
  });

  test('has the pods restarted by /livez and given traffic by /readyz', () => {
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
    expect(compose.services[app]).toMatchObject({
      read_only: true,
      cap_drop: ['ALL'],
      security_opt: ['no-new-privileges:true'],
      mem_limit: '256m',
      ulimits: { nofile: 4096 },
    });
  });

  test('migrates in a job before the service, which is replaced with no pod missing and has time to drain', () => {
    expect(migration.command).toEqual(['node', 'main.js', 'migrate']);
    expect(service.env).toContainEqual({ name: 'MIGRATE_ON_START', value: 'false' });
    const { strategy, template } = kubernetes.Deployment.spec;
    expect(strategy).toMatchObject({ rollingUpdate: { maxUnavailable: 0 } });
    expect(template.spec.terminationGracePeriodSeconds).toBe(15);
    expect(compose.services[app]).toMatchObject({ stop_grace_period: '15s' });
  });

  test('runs one image, of this service, and selects its own pods', () => {
    const images = [compose.services[app]!, migration, service].map(({ image }) => image);
    expect(new Set(images)).toEqual(new Set([`ghcr.io/OWNER/rest-services/${app}:TAG`]));
    const { Deployment, Service, PodDisruptionBudget } = kubernetes;
    expect([Deployment.spec.template.metadata.labels, Service.spec.selector]).toEqual([{ app }, { app }]);
    for (const { spec } of [Deployment, PodDisruptionBudget]) expect(spec.selector).toEqual({ matchLabels: { app } });
  });

  test('lists the endpoints of the service itself', () => {
    const paths = table(readme, 'The service itself').map(([path]) => plain(path!));
    expect(paths).toEqual(['/livez', '/readyz', '/metrics', '/openapi.json', '/docs']);
  });
});
