import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { services } from '@rest-services/workspace';
import { Ajv, type AnySchemaObject } from 'ajv';
import { parse, parseAllDocuments } from 'yaml';

const folder = join(import.meta.dirname, '../../docker/kubernetes');
const readme = readFileSync(join(folder, 'README.md'), 'utf8');

interface KubernetesObject {
  kind: string;
  metadata: { name: string; namespace: string };
  spec: object;
}
interface Pod {
  volumes: { name: string; secret?: object }[];
  containers: { env: { name: string; value?: string; valueFrom?: object }[] }[];
}

/** Those of CloudNativePG 1.30 and its Barman plugin 0.14, without descriptions and without what is not used here. */
const schemas = JSON.parse(readFileSync(join(import.meta.dirname, 'cloudnative-pg.json'), 'utf8')) as Record<
  string,
  AnySchemaObject
>;
const ajv = new Ajv({ strict: false, validateFormats: false, allErrors: true });

/** As the API server with `--validate=strict`: a field that is not in the schema is wrong. */
function strict(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(strict);
  if (typeof schema !== 'object' || schema === null) return schema;
  const entries = Object.entries(schema).map(([name, value]) => [name, strict(value)]);
  return { ...('properties' in schema && { additionalProperties: false }), ...Object.fromEntries(entries) };
}

function problems(object: KubernetesObject) {
  const validate = ajv.compile(strict(schemas[object.kind]) as AnySchemaObject);
  return validate(object) ? [] : validate.errors;
}

function render(name: string, within = folder) {
  const kubectl = join(import.meta.dirname, 'node_modules/.bin/kubectl');
  const yaml = execFileSync(kubectl, ['kustomize', join(within, 'replicated', name)], { encoding: 'utf8' });
  return parseAllDocuments(yaml).map((document) => document.toJS() as KubernetesObject);
}

test('docker/kubernetes/replicated has a folder for each service', () => {
  expect(readdirSync(join(folder, 'replicated')).sort()).toEqual(services().map(({ name }) => name));
});

test('the point-in-time restore of README.md is valid', () => {
  const object = parse(
    /^```yaml\n(apiVersion: postgresql.cnpg.io\/v1\n.*?)^```$/ms.exec(readme)![1]!,
  ) as KubernetesObject;
  expect(problems(object)).toEqual([]);
  expect(problems({ ...object, spec: { ...object.spec, instances: '3', instance: 3 } })).toHaveLength(2);
});

test('the lines of README.md lead a service to the restored database', () => {
  const copy = mkdtempSync(join(tmpdir(), 'replicated-'));
  cpSync(folder, join(copy, 'docker/kubernetes'), { recursive: true });
  execFileSync('sh', ['-c', /^sed -i 's\/service-db.*$/m.exec(readme)![0]], { cwd: copy });
  const yaml = JSON.stringify(render('items', join(copy, 'docker/kubernetes')));
  rmSync(copy, { recursive: true });
  for (const name of ['items-db-restored-app', 'items-db-restored-ro']) expect(yaml).toContain(`"${name}"`);
  expect(yaml).not.toMatch(/"items-db-(app|ro)"/);
});

describe.each(services())('The replicated overlay of $name', ({ name }) => {
  const objects = render(name);
  const one = (kind: string) => objects.find((object) => object.kind === kind)!;
  const database = `${name}-db`;

  test('is three instances of PostgreSQL, two of them synchronous standbys, with a backup', () => {
    for (const kind of ['Cluster', 'ObjectStore', 'ScheduledBackup']) {
      expect([kind, problems(one(kind))]).toEqual([kind, []]);
      expect(one(kind).metadata).toMatchObject({ name: database, namespace: 'rest-services' });
    }
    expect(one('Cluster').spec).toMatchObject({
      instances: 3,
      plugins: [{ isWALArchiver: true, parameters: { barmanObjectName: database } }],
      postgresql: { synchronous: { number: 2 }, parameters: { synchronous_commit: 'remote_apply' } },
    });
    expect(one('ScheduledBackup').spec).toMatchObject({ cluster: { name: database }, method: 'plugin' });
  });

  test('writes to the primary, by the URL in the secret of the operator, and reads from standbys', () => {
    const pods = ['Deployment', 'Job'].map((kind) => (one(kind).spec as { template: { spec: Pod } }).template.spec);
    const secret = { secretName: `${database}-app`, items: [{ key: 'uri', path: 'url' }] };
    for (const { volumes } of pods) expect(volumes[0]).toEqual({ name: 'database', secret });
    const variables = Object.fromEntries(pods[0]!.containers[0]!.env.map((variable) => [variable.name, variable]));
    expect(variables).toMatchObject({
      DATABASE_URL_FILE: { value: '/run/secrets/database/url' },
      READ_HOST: { value: `${database}-ro` },
      READ_PASSWORD: { valueFrom: { secretKeyRef: { name: `${database}-app`, key: 'password' } } },
      DATABASE_READ_URL: { value: 'postgres://app:$(READ_PASSWORD)@$(READ_HOST)/app' },
    });
    // Kubernetes replaces variables that stand before.
    expect(Object.keys(variables).at(-1)).toBe('DATABASE_READ_URL');
  });

  test('has no object of CloudNativePG that is named as one of the service', () => {
    const made = ['', '-rw', '-ro', '-r', '-app', '-primary'].map((suffix) => database + suffix);
    const own = objects.filter(({ kind }) => !['Cluster', 'ObjectStore', 'ScheduledBackup'].includes(kind));
    expect(own.map(({ metadata }) => metadata.name).filter((each) => made.includes(each))).toEqual([]);
  });
});
