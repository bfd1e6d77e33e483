import { execFileSync } from 'node:child_process';
import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from '@jest/globals';
import { services } from '@rest-services/workspace';
import { parse } from 'yaml';
import { EnvironmentVariables, loadSettings } from '../../../libs/service/src/settings.ts';
import { block } from '../block.ts';
import { copyKubernetes, environment, folder, render, type KubernetesObject } from './render.ts';

const prose = readFileSync(join(folder, 'README.md'), 'utf8').replaceAll('\n', ' ');

/** Timeout for the whole drain, which docker/operate.md promises. */
const DRAIN_MS = 10_000;

/** Connections that PostgreSQL gives to roles without superuser rights, by default. */
const SERVER_CONNECTIONS = 97;

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

// TypeScript finds the models from here.
const scratch = mkdtempSync(join(import.meta.dirname, 'node_modules', 'checked-'));
const copy = copyKubernetes();
afterAll(() => [scratch, copy].forEach((each) => rmSync(each, { recursive: true })));

/** Compiles objects as values of the types of their kinds. @returns what the compiler says */
function typeErrors(objects: KubernetesObject[]) {
  const lines = objects.map(
    (object, index) => `import type { I${object.kind} as Model${index} } from '${MODELS[object.kind]}';
export const object${index}: Model${index} = ${JSON.stringify(object, null, 1)};`,
  );
  writeFileSync(join(scratch, 'objects.ts'), lines.join('\n'));
  writeFileSync(join(scratch, 'package.json'), '{"type":"module"}');
  const options = ['--noEmit', '--strict', '--skipLibCheck', '--ignoreConfig', '--module', 'nodenext'];
  try {
    return execFileSync('tsc', [...options, 'objects.ts'], { cwd: scratch, encoding: 'utf8' });
  } catch (error) {
    return (error as { stdout: string }).stdout;
  }
}

/** The overlay of items after the lines of README.md that name an image and add the monitor. */
function prepare() {
  const image = block('kubernetes/README.md', 'sh\nsed -i "s#OWNER').replace('$(git rev-parse HEAD)', '1.4');
  execFileSync('sh', ['-c', image], { cwd: copy });
  const file = join(copy, 'docker/kubernetes/overlays/items/kustomization.yaml');
  appendFileSync(file, block('kubernetes/README.md', 'yaml\ncomponents:'));
  return render('overlays/items', join(copy, 'docker/kubernetes'));
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
  const objects = prepare();
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
    expect(tcp[0]).toBe(53);
    expect(prose).toContain(
      `TCP ports ${tcp
        .slice(1)
        .join(', ')
        .replace(/, (\d+)$/, ' and $1')} `,
    );
  });

  test('holds as many database connections as README.md adds up, fewer than a server has', () => {
    const { maxReplicas } = objects['HorizontalPodAutoscaler']!.spec as { maxReplicas: number };
    // One more pod drains while its successor starts.
    const serving = maxReplicas + Deployment.spec.strategy.rollingUpdate.maxSurge + 1;
    const connections = serving * (Number(environment(Deployment)['DATABASE_POOL_MAX']) + 1);
    expect(prose).toContain(`= ${connections} connections`);
    expect(connections).toBeLessThan(SERVER_CONNECTIONS);
    const needed = [2, 4].map((count) => count * connections + 3 + 10);
    expect(prose).toContain(`two on one server need \`max_connections\` of ${needed.join(', and four ')}`);
  });
});
