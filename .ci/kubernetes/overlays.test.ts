import { execFile, execFileSync } from 'node:child_process';
import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, describe, expect, test } from '@jest/globals';
import { services } from '@rest-services/workspace';
import { parseAllDocuments } from 'yaml';
import { EnvironmentVariables, loadSettings } from '../../libs/service/src/settings.ts';

const workspace = join(import.meta.dirname, '../..');
const folder = join(workspace, 'docker/kubernetes');
const readme = readFileSync(join(folder, 'README.md'), 'utf8');

/** Timeout for the whole drain, which docker/operate.md promises. */
const DRAIN_MS = 10_000;

/** Connections that PostgreSQL gives to roles without superuser rights, by default. */
const SERVER_CONNECTIONS = 97;

interface KubernetesObject {
  apiVersion: string;
  kind: string;
  metadata: { name: string; namespace?: string; labels: Record<string, string>; annotations?: Record<string, string> };
}
interface Container {
  name: string;
  image: string;
  command?: string[];
  env: { name: string; value: string }[];
  ports?: { name: string; containerPort: number }[];
  volumeMounts: { name: string; mountPath: string }[];
  securityContext: object;
  resources: { requests: object; limits: object };
  [probe: `${string}Probe`]: { httpGet: object } | undefined;
}
interface Pod {
  serviceAccountName: string;
  automountServiceAccountToken: boolean;
  terminationGracePeriodSeconds: number;
  securityContext: object;
  volumes: { name: string; secret?: { secretName: string } }[];
  containers: Container[];
  topologySpreadConstraints?: { topologyKey: string; labelSelector: Selector }[];
}
interface Selector {
  matchLabels: Record<string, string>;
}
interface Template {
  metadata: { labels: Record<string, string> };
  spec: Pod;
}
interface Rendered {
  Deployment: KubernetesObject & {
    spec: {
      replicas?: number;
      minReadySeconds: number;
      selector: Selector;
      strategy: { rollingUpdate: { maxSurge: number; maxUnavailable: number } };
      template: Template;
    };
  };
  Job: KubernetesObject & { spec: { template: Template } };
  Service: KubernetesObject & { spec: { selector: Record<string, string>; ports: object[] } };
  ServiceAccount: KubernetesObject & { automountServiceAccountToken: boolean };
  PodDisruptionBudget: KubernetesObject & { spec: { maxUnavailable: number; selector: Selector } };
  HorizontalPodAutoscaler: KubernetesObject & {
    spec: { minReplicas: number; maxReplicas: number; scaleTargetRef: object; metrics: object[] };
  };
  NetworkPolicy: KubernetesObject & {
    spec: { podSelector: Selector; policyTypes: string[]; ingress: object[]; egress: { ports: object[] }[] };
  };
  ServiceMonitor: KubernetesObject & { spec: { selector: Selector; endpoints: object[] } };
}

/** Model of each kind, whose class validates an object, and whose type knows all of its fields. */
const MODELS: Record<keyof Rendered | 'Namespace', string> = {
  Deployment: 'kubernetes-models/apps/v1/Deployment',
  Job: 'kubernetes-models/batch/v1/Job',
  Service: 'kubernetes-models/v1/Service',
  ServiceAccount: 'kubernetes-models/v1/ServiceAccount',
  Namespace: 'kubernetes-models/v1/Namespace',
  PodDisruptionBudget: 'kubernetes-models/policy/v1/PodDisruptionBudget',
  HorizontalPodAutoscaler: 'kubernetes-models/autoscaling/v2/HorizontalPodAutoscaler',
  NetworkPolicy: 'kubernetes-models/networking.k8s.io/v1/NetworkPolicy',
  ServiceMonitor: '@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1/ServiceMonitor',
};
type Kind = keyof typeof MODELS;

// TypeScript finds the models from here.
const scratch = mkdtempSync(join(import.meta.dirname, 'node_modules', 'checked-'));
const copy = mkdtempSync(join(tmpdir(), 'kubernetes-test-'));
afterAll(() => {
  for (const directory of [scratch, copy]) rmSync(directory, { recursive: true });
});

const objectsIn = (yaml: string) =>
  parseAllDocuments(yaml).map((document) => {
    expect([document.errors, document.warnings]).toEqual([[], []]);
    return document.toJS() as KubernetesObject;
  });

function render(overlay: string) {
  const kubectl = join(import.meta.dirname, 'node_modules/.bin/kubectl');
  return objectsIn(execFileSync(kubectl, ['kustomize', overlay], { encoding: 'utf8' }));
}

const byKind = (objects: KubernetesObject[]) => {
  const kinds = objects.map((object) => [object.kind, object] as const);
  expect(new Set(kinds.map(([kind]) => kind)).size).toBe(kinds.length);
  return Object.fromEntries(kinds) as unknown as Rendered;
};

/** Renders each overlay with the component, which README.md adds by two lines. */
cpSync(folder, copy, { recursive: true });
const component = /^```yaml\n(components:\n.*?)^```$/ms.exec(readme)![1]!;
const monitored = Object.fromEntries(
  services().map(({ name }) => {
    const overlay = join(copy, 'overlays', name);
    appendFileSync(join(overlay, 'kustomization.yaml'), component);
    return [name, render(overlay)];
  }),
);

async function validate(object: KubernetesObject) {
  const kind = object.kind as Kind;
  const models = (await import(MODELS[kind])) as Record<Kind, new (data: object) => { validate(): void }>;
  new models[kind](object).validate();
}

/** Finds fields that a kind does not have, which its schema lets pass. */
async function unknownFields(objects: KubernetesObject[]) {
  const lines = objects.map((object, index) => {
    const kind = object.kind as Kind;
    return `import type { I${kind} as Model${index} } from '${MODELS[kind]}';
export const object${index}: Model${index} = ${JSON.stringify(object, null, 1)};`;
  });
  const file = join(scratch, 'objects.ts');
  writeFileSync(file, lines.join('\n'));
  writeFileSync(join(scratch, 'package.json'), '{"type":"module"}');
  const tsc = join(workspace, 'node_modules/.bin/tsc');
  const args = ['--noEmit', '--strict', '--skipLibCheck', '--ignoreConfig', '--module', 'nodenext'];
  try {
    await promisify(execFile)(tsc, [...args, file], { cwd: scratch });
    return '';
  } catch (error) {
    return (error as { stdout: string }).stdout;
  }
}

test('docker/kubernetes/overlays has a folder for each service', () => {
  expect(readdirSync(join(folder, 'overlays')).sort()).toEqual(services().map(({ name }) => name));
  expect(existsSync(join(workspace, 'docker/kubernetes.yaml'))).toBe(false);
});

test('Each object is valid in the schemas of Kubernetes and has fields that its kind has', async () => {
  const namespaces = objectsIn(readFileSync(join(folder, 'namespace.yaml'), 'utf8'));
  const objects = [...namespaces, ...Object.values(monitored).flat()];
  for (const object of objects) await validate(object);
  expect(await unknownFields(objects)).toBe('');
});

test('The checks refuse a value of the wrong type and a field that is misspelt', async () => {
  const { Deployment } = byKind(monitored['items']!);
  await expect(
    validate({ ...Deployment, spec: { ...Deployment.spec, minReadySeconds: '10' } } as never),
  ).rejects.toThrow();
  const misspelt = { ...Deployment, spec: { ...Deployment.spec, minReadySecond: 10 } };
  expect(await unknownFields([misspelt])).toContain('minReadySecond');
});

test('The namespace enforces restricted Pod Security, and all overlays are in it', () => {
  const [namespace] = objectsIn(readFileSync(join(folder, 'namespace.yaml'), 'utf8'));
  for (const mode of ['enforce', 'audit', 'warn'])
    expect(namespace!.metadata.labels[`pod-security.kubernetes.io/${mode}`]).toBe('restricted');
  for (const { metadata } of Object.values(monitored).flat()) expect(metadata.namespace).toBe(namespace!.metadata.name);
});

describe.each(services())('The overlay of $name', ({ name, port }) => {
  const rendered = byKind(monitored[name]!);
  const { Deployment, Job, Service, ServiceMonitor, NetworkPolicy, HorizontalPodAutoscaler } = rendered;
  const templates = [Deployment, Job].map(({ spec }) => spec.template);
  const pods = templates.map(({ spec }) => spec);
  const server = Deployment.spec.template.spec.containers[0]!;
  const migration = Job.spec.template.spec.containers[0]!;
  const environment = ({ env }: Container) =>
    Object.fromEntries(env.map((variable) => [variable.name, variable.value]));
  const own = { 'app.kubernetes.io/name': name };
  const servers = { ...own, 'app.kubernetes.io/component': 'server' };

  test('has each kind once, named after the service, and the monitor only with its component', () => {
    const kinds = Object.keys(MODELS).filter((kind) => kind !== 'Namespace');
    expect(Object.keys(rendered).sort()).toEqual(kinds.sort());
    for (const { kind, metadata } of Object.values(rendered) as KubernetesObject[])
      expect([kind, metadata.name]).toEqual([kind, kind === 'Job' ? `${name}-migrate` : name]);
    const plain = render(join(folder, 'overlays', name)).map(({ kind }) => kind);
    expect(plain.sort()).toEqual(kinds.filter((kind) => kind !== 'ServiceMonitor').sort());
  });

  test('opens the port that the service listens on by default', () => {
    expect(server.ports).toEqual([{ name: 'http', containerPort: port }]);
    expect(Service.spec.ports).toEqual([{ name: 'http', port: 80, targetPort: 'http' }]);
    expect(environment(server)).not.toHaveProperty('PORT');
  });

  test('runs one image of the service in both pods, whose tag is to be set and is not latest', () => {
    for (const { image } of [server, migration]) expect(image).toBe(`ghcr.io/OWNER/rest-services/${name}:TAG`);
  });

  test('gives the containers no rights, no files to write and limits', () => {
    for (const { securityContext, containers } of pods) {
      expect(securityContext).toMatchObject({
        runAsNonRoot: true,
        runAsUser: 1000,
        seccompProfile: { type: 'RuntimeDefault' },
      });
      expect(containers).toHaveLength(1);
      expect(containers[0]!.securityContext).toEqual({
        readOnlyRootFilesystem: true,
        allowPrivilegeEscalation: false,
        capabilities: { drop: ['ALL'] },
      });
      expect(containers[0]!.resources).toEqual({
        requests: { cpu: expect.any(String), memory: '256Mi' },
        limits: { memory: '256Mi' },
      });
    }
    for (const { volumes } of pods) expect(volumes).toHaveLength(1);
  });

  test('gives the pods no token of the service account', () => {
    expect(rendered.ServiceAccount.automountServiceAccountToken).toBe(false);
    for (const pod of pods)
      expect(pod).toMatchObject({ serviceAccountName: name, automountServiceAccountToken: false });
  });

  test('gives the database to the pods as a file from a secret', () => {
    for (const { volumes, containers } of pods) {
      expect(volumes[0]).toEqual({ name: 'database', secret: { secretName: `${name}-database` } });
      const [container] = containers;
      expect(environment(container!)['DATABASE_URL_FILE']).toBe(`${container!.volumeMounts[0]!.mountPath}/url`);
    }
  });

  test('sets only settings that there are, to values that are allowed', () => {
    for (const container of [server, migration]) {
      const given = environment(container);
      expect(Object.keys(EnvironmentVariables.properties)).toEqual(expect.arrayContaining(Object.keys(given)));
      const own = { DATABASE_URL: 'postgres://user:password@host/database' };
      const settings = loadSettings({ ...given, ...own }, port);
      expect(settings.PORT).toBe(port);
    }
  });

  test('restarts pods by /livez and sends them traffic by /readyz', () => {
    const probes = (['startupProbe', 'livenessProbe', 'readinessProbe'] as const).map(
      (probe) => server[probe]?.httpGet,
    );
    expect(probes).toEqual(['/livez', '/livez', '/readyz'].map((path) => ({ path, port: 'http' })));
  });

  test('migrates in a job alone, and updates with no pod missing and time to drain', () => {
    expect(migration.command).toEqual(['node', 'main.js', 'migrate']);
    expect(environment(server)['MIGRATE_ON_START']).toBe('false');
    expect(Deployment.spec.strategy.rollingUpdate).toEqual({ maxUnavailable: 0, maxSurge: 1 });
    const drain = DRAIN_MS + Number(environment(server)['SHUTDOWN_DELAY_MS']);
    expect(Deployment.spec.template.spec.terminationGracePeriodSeconds * 1_000).toBeGreaterThan(drain);
  });

  test('selects the pods of the server, and not that of the migration', () => {
    const spread = Deployment.spec.template.spec.topologySpreadConstraints!;
    expect(spread.map(({ topologyKey }) => topologyKey)).toEqual([
      'topology.kubernetes.io/zone',
      'kubernetes.io/hostname',
    ]);
    const selected = [Deployment.spec.selector, rendered.PodDisruptionBudget.spec.selector].concat(
      spread.map(({ labelSelector }) => labelSelector),
    );
    for (const { matchLabels } of [...selected, { matchLabels: Service.spec.selector }])
      expect(matchLabels).toEqual(servers);
    expect(Deployment.spec.template.metadata.labels).toMatchObject(servers);
    expect(Job.spec.template.metadata.labels).toMatchObject({ ...own, 'app.kubernetes.io/component': 'migration' });
    expect(Service.metadata.labels).toMatchObject(ServiceMonitor.spec.selector.matchLabels);
    expect(ServiceMonitor.spec.selector.matchLabels).toMatchObject(own);
  });

  test('keeps one pod during disruptions and scales on CPU', () => {
    const { minReplicas, scaleTargetRef, metrics } = HorizontalPodAutoscaler.spec;
    expect(minReplicas - rendered.PodDisruptionBudget.spec.maxUnavailable).toBeGreaterThanOrEqual(1);
    expect(scaleTargetRef).toEqual({ apiVersion: 'apps/v1', kind: 'Deployment', name });
    expect(metrics).toEqual([{ type: 'Resource', resource: expect.objectContaining({ name: 'cpu' }) }]);
    // Otherwise, each apply would undo what the autoscaler did.
    expect(Deployment.spec).not.toHaveProperty('replicas');
  });

  test('lets the pods reach DNS, PostgreSQL and OTLP, and clients their port', () => {
    const { podSelector, policyTypes, ingress, egress } = NetworkPolicy.spec;
    for (const { metadata } of templates) expect(metadata.labels).toMatchObject(podSelector.matchLabels);
    expect(podSelector.matchLabels).toMatchObject(own);
    expect(policyTypes).toEqual(['Ingress', 'Egress']);
    expect(egress.flatMap(({ ports }) => ports)).toEqual([
      { protocol: 'UDP', port: 53 },
      ...[53, 5432, 4318, 443].map((number) => ({ protocol: 'TCP', port: number })),
    ]);
    expect(ingress).toEqual([{ from: expect.any(Array), ports: [{ protocol: 'TCP', port: 'http' }] }]);
  });

  test('holds as many database connections as README.md adds up, fewer than a server has by default', () => {
    const { strategy } = Deployment.spec;
    // One more pod drains while its successor starts.
    const serving = HorizontalPodAutoscaler.spec.maxReplicas + strategy.rollingUpdate.maxSurge + 1;
    const connections = serving * (Number(environment(server)['DATABASE_POOL_MAX']) + 1);
    const prose = readme.replaceAll('\n', ' ');
    expect(prose).toContain(`= ${connections} connections`);
    expect(connections).toBeLessThan(SERVER_CONNECTIONS);
    expect(Deployment.spec.minReadySeconds * 1_000).toBeGreaterThanOrEqual(DRAIN_MS);
    const needed = [2, 4].map((count) => count * connections + 3 + 10);
    expect(prose).toContain(`two on one server need \`max_connections\` of ${needed.join(', and four ')}`);
  });

  test('takes a tag such as 1.4, which is text, and replaces the job under Argo CD and Flux', () => {
    const file = join(copy, 'overlays', name, 'kustomization.yaml');
    writeFileSync(file, readFileSync(file, 'utf8').replace('TAG', '1.4'));
    const { Deployment: tagged, Job: job } = byKind(render(join(copy, 'overlays', name)));
    expect(tagged.spec.template.spec.containers[0]!.image).toBe(`ghcr.io/OWNER/rest-services/${name}:1.4`);
    expect(job.metadata.annotations).toEqual({
      'argocd.argoproj.io/sync-options': 'Force=true,Replace=true',
      'kustomize.toolkit.fluxcd.io/force': 'enabled',
    });
  });
});
