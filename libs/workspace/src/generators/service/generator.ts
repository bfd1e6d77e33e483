import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { formatFiles, generateFiles, logger, names, readJson, type Tree } from '@nx/devkit';
import { services } from '../../services.ts';

/** Options of the generator, which schema.json checks. */
interface Options {
  name: string;
  port: number;
  path?: string;
  resource?: string;
}

interface Manifest {
  dependencies: Record<'kysely' | 'typebox', string>;
}

/**
 * Creates a service with one resource, its tests, README, client and overlay for Kubernetes, and names it in the files of Compose
 * and in the documents.
 *
 * @throws Error when a name or the port is taken, or a file has no place where the service belongs
 */
export default async function generateService(
  tree: Tree,
  { name, port, path = `/api/${name}`, resource = name.slice(0, -1) }: Options,
) {
  if (tree.exists(join('apps', name))) throw new Error(`apps/${name} exists`);
  checkPort(tree, port);
  checkNames(name, resource);

  const words = resource.replaceAll('-', ' ');
  const manyWords = name.replaceAll('-', ' ');
  const { dependencies } = readJson<Manifest>(tree, 'apps/items/package.json');
  const variables = {
    ...{ name, port, path, words, manyWords },
    table: resource.replaceAll('-', '_'),
    records: names(name).propertyName,
    Records: names(name).className,
    Record: names(resource).className,
    Words: capitalise(words),
    Title: capitalise(manyWords),
    ...{ kysely: dependencies.kysely, typebox: dependencies.typebox },
  };
  const folders = { app: 'apps', kubernetes: 'docker/kubernetes/overlays', replicated: 'docker/kubernetes/replicated' };
  for (const [files, folder] of Object.entries(folders))
    generateFiles(tree, join(import.meta.dirname, 'files', files), join(folder, name), variables);
  nameInClient(tree, variables);
  nameInCompose(tree, name, port);
  nameInDocuments(tree, variables);
  await formatFiles(tree);
  return () => {
    writeDocument(tree, name);
    logger.info(`Run npm install, which links ${name} and names it in package-lock.json.`);
  };
}

/** The typed client is made of the document. */
function writeDocument({ root }: Tree, name: string) {
  execFileSync(join(root, 'node_modules/.bin/nx'), ['openapi', name], { cwd: root, stdio: 'inherit' });
}

/** Nx checks the type of a number in schema.json, and not its range. */
function checkPort(tree: Tree, port: number) {
  if (!(port >= 1024 && port <= 65_535)) throw new Error(`Port ${port} is not one of 1024 to 65535`);
  const owner = services().find((service) => [service.localPort, service.port].includes(port));
  if (owner) throw new Error(`Port ${port} is that of ${owner.name}`);
  // Prometheus and Grafana.
  if (tree.read('docker/compose.yaml', 'utf8')!.includes(`_PORT:-${port}}`))
    throw new Error(`Port ${port} is published in docker/compose.yaml`);
}

/** Names in the templates that a service or its records would have, too. */
const TAKEN_BY_SERVICE = ['app', 'db', 'schemas', 'settings'];
const TAKEN_BY_RECORD = ['Id', 'Message', 'Path', 'Table', 'Timestamp', 'Title', 'Type'];

function checkNames(name: string, resource: string) {
  const { className } = names(resource);
  if (TAKEN_BY_SERVICE.includes(name)) throw new Error(`${name} is a variable of each service: choose another name`);
  if (TAKEN_BY_RECORD.includes(className))
    throw new Error(`${className} is a shape of each service: choose another --resource than ${resource}`);
}

function capitalise(text: string) {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function nameInClient(tree: Tree, { name, records, Records }: Record<'name' | 'records' | 'Records', string>) {
  const file = 'libs/client/src/index.ts';
  insertAfterLast(
    tree,
    file,
    /^import type .* from '.\/generated\/.*\n/gm,
    `import type { paths as ${Records}Paths } from './generated/${name}.ts';\n`,
  );
  insertAfterLast(
    tree,
    file,
    /^export const (?:.+\n)+/gm,
    `\nexport const ${records}Client = (options: ClientOptions): Client<${Records}Paths> => createClient<${Records}Paths>(options);\n`,
  );
  insertAfterLast(tree, file, /^export type \{[^}]*Paths/gm, `, ${Records}Paths`);
}

function nameInCompose(tree: Tree, name: string, port: number) {
  const file = 'docker/compose.yaml';
  insertAfterLast(
    tree,
    file,
    /^ {2}[\w-]+:\n {4}<<: \*service\n(?: {4}.*\n)+/gm,
    `
  ${name}:
    <<: *service
    image: rest-services/${name}:\${TAG:-latest}
    build:
      context: ..
      dockerfile: docker/Dockerfile
      args: { APP: ${name} }
    environment:
      DATABASE_URL_FILE: /run/secrets/${name}-database-url
    secrets: [${name}-database-url]
    ports: ['127.0.0.1:\${${name.toUpperCase().replaceAll('-', '_')}_PORT:-${port}}:${port}']
`,
  );
  insertAfterLast(tree, file, /^ {6}- [\w-]+-database-url\n/gm, `      - ${name}-database-url\n`);
  insertAfterLast(
    tree,
    file,
    /^ {2}[\w-]+-database-url:\n.*\n/gm,
    `  ${name}-database-url:\n    file: ./secrets/${name}-database-url\n`,
  );
}

function nameInDocuments(tree: Tree, { name, port, path }: { name: string; port: number; path: string }) {
  const row = `| [${name}](apps/${name}/README.md) | http://localhost:${port}${path} | ${port} |\n`;
  insertAfterLast(tree, 'README.md', /^\| \[[\w-]+\]\(apps\/.*\n/gm, row);
  insertAfterLast(tree, 'docker/operate.md', /^services='[^']*/gm, ` ${name}`);
  insertAfterLast(tree, 'docker/observability/prometheus.yml', /- targets: \[[^\]]*/g, `, '${name}:${port}'`);
}

/** Inserts text after the last match. */
function insertAfterLast(tree: Tree, file: string, pattern: RegExp, text: string) {
  const content = tree.read(file, 'utf8')!;
  const last = [...content.matchAll(pattern)].at(-1);
  if (!last) throw new Error(`${file} has no place for a service: nothing matches ${pattern}`);
  const end = last.index + last[0].length;
  tree.write(file, content.slice(0, end) + text + content.slice(end));
}
