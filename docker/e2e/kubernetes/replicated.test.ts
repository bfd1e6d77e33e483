import { execFileSync } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { Ajv, type AnySchemaObject } from 'ajv';
import { parse } from 'yaml';
import { block } from '../block.ts';
import { copyKubernetes, render, type KubernetesObject } from './render.ts';

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

const objects = render('replicated/items');
const own = Object.keys(schemas).map((kind) => objects[kind]!);

test('is three instances of PostgreSQL, two of them synchronous standbys, with a backup', () => {
  for (const object of own) {
    expect([object.kind, problems(object)]).toEqual([object.kind, []]);
    expect(object.metadata).toMatchObject({ name: 'items-db', namespace: 'rest-services' });
  }
  expect(objects['Cluster']!.spec).toMatchObject({
    instances: 3,
    plugins: [{ isWALArchiver: true, parameters: { barmanObjectName: 'items-db' } }],
    postgresql: { synchronous: { number: 2 }, parameters: { synchronous_commit: 'remote_apply' } },
  });
  expect(objects['ScheduledBackup']!.spec).toMatchObject({ cluster: { name: 'items-db' }, method: 'plugin' });
});

test('writes to the primary, by the URL in the secret of the operator, and reads from standbys', () => {
  const secret = { secretName: 'items-db-app', items: [{ key: 'uri', path: 'url' }] };
  const pods = [objects.Deployment, objects.Job].map(({ spec }) => spec.template.spec);
  for (const { volumes } of pods) expect(volumes).toEqual([{ name: 'database', secret }]);
  // Kubernetes replaces variables that stand before.
  expect(pods[0]!.containers[0]!.env.slice(-3)).toEqual([
    { name: 'READ_HOST', value: 'items-db-ro' },
    { name: 'READ_PASSWORD', valueFrom: { secretKeyRef: { name: 'items-db-app', key: 'password' } } },
    { name: 'DATABASE_READ_URL', value: 'postgres://app:$(READ_PASSWORD)@$(READ_HOST)/app' },
  ]);
});

test('the point-in-time restore of README.md is valid, and its lines lead a service to it', () => {
  const restored = parse(block('kubernetes/README.md', 'yaml\napiVersion: postgresql.cnpg.io')) as KubernetesObject;
  expect(problems(restored)).toEqual([]);
  expect(problems({ ...restored, spec: { ...restored.spec, instances: '3', instance: 3 } })).toHaveLength(2);

  const copy = copyKubernetes();
  const [sed] = /^sed .*$/m.exec(block('kubernetes/README.md', 'sh\nkubectl wait'))!;
  execFileSync('sh', ['-c', sed], { cwd: copy });
  const yaml = JSON.stringify(render('replicated/items', join(copy, 'docker/kubernetes')));
  rmSync(copy, { recursive: true });
  for (const name of ['items-db-restored-app', 'items-db-restored-ro']) expect(yaml).toContain(`"${name}"`);
  expect(yaml).not.toMatch(/"items-db-(app|ro)"/);
});
