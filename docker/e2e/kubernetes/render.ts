import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';

/** The parts of Kubernetes' objects that are read here. */
export interface KubernetesObject {
  kind: string;
  metadata: { name: string; labels?: Record<string, string> };
  spec: object;
}
export interface Workload extends KubernetesObject {
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
  containers: { image: string; env: { name: string; value?: string }[]; volumeMounts: { mountPath: string }[] }[];
}

export const folder = join(import.meta.dirname, '../../kubernetes');

/** Renders a folder of docker/kubernetes, or of a copy of it. @returns its objects by their kind, of which there is one each */
export function render(name: string, within = folder) {
  const kubectl = join(import.meta.dirname, 'node_modules/.bin/kubectl');
  const yaml = execFileSync(kubectl, ['kustomize', join(within, name)], { encoding: 'utf8' });
  const documents = parseAllDocuments(yaml, { stringKeys: true });
  const objects = documents.map((document) => document.toJS() as KubernetesObject);
  const byKind = Object.fromEntries(objects.map((object) => [object.kind, object]));
  if (Object.keys(byKind).length < objects.length) throw new Error(`${name} has two objects of a kind`);
  return byKind as Record<string, KubernetesObject> & Record<'Deployment' | 'Job', Workload>;
}

/** Copies docker/kubernetes, so that lines of a document change the copy. @returns the folder that holds docker/kubernetes */
export function copyKubernetes() {
  const copy = mkdtempSync(join(tmpdir(), 'kubernetes-'));
  cpSync(folder, join(copy, 'docker/kubernetes'), { recursive: true });
  return copy;
}

/** Environment of the container of a pod. */
export const environment = ({ spec }: Workload) =>
  Object.fromEntries(spec.template.spec.containers[0]!.env.map((variable) => [variable.name, variable.value]));
