import { once } from 'node:events';
import { request, type IncomingMessage, type OutgoingHttpHeaders } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { freePort } from '@rest-services/local-postgres';
import { startService, type TestService } from '@rest-services/testing';
import { sql } from 'kysely';
import { startProgram } from './program.ts';

// Proxies of Debian before the service: as they are, but that they compress JSON and name the client.

const main = join(import.meta.dirname, '..', '..', 'apps', 'items', 'dist', 'main.js');

/** Address of the clients. The proxies connect from 127.0.0.1. */
const CLIENT = '127.0.0.2';

const apache = (port: number, service: string) => `
ServerRoot FOLDER
ServerName localhost
PidFile FOLDER/pid
ErrorLog FOLDER/log
Listen 127.0.0.1:${port}
${['mpm_event', 'authz_core', 'filter', 'deflate', 'proxy', 'proxy_http']
  .map((module) => `LoadModule ${module}_module /usr/lib/apache2/modules/mod_${module}.so`)
  .join('\n')}
Include /etc/apache2/mods-available/deflate.conf
AddOutputFilterByType DEFLATE application/json
ProxyPass / ${service}/
`;

// Speaks HTTP/1.0 to the service.
const nginx = (port: number, service: string) => `
daemon off;
master_process off;
pid FOLDER/pid;
events {}
http {
  access_log off;
  client_body_temp_path FOLDER;
  proxy_temp_path FOLDER;
  fastcgi_temp_path FOLDER;
  uwsgi_temp_path FOLDER;
  scgi_temp_path FOLDER;
  gzip on;
  gzip_types application/json;
  gzip_proxied any;
  server {
    listen 127.0.0.1:${port};
    location / {
      proxy_pass ${service};
      proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
    }
  }
}
`;

const haproxy = (port: number, service: string) => `
global
  maxconn 100
defaults
  mode http
  timeout connect 2s
  timeout client 30s
  timeout server 30s
listen items
  bind 127.0.0.1:${port}
  compression algo gzip
  compression type application/json
  option forwardfor
  server items ${service.replace('http://', '')}
`;

let service: TestService<{ item: { title: string } }>;

beforeAll(async () => {
  service = await startService(main, { NODE_ENV: 'production', TRUST_PROXY: '127.0.0.1', SHUTDOWN_DELAY_MS: '0' });
});
afterAll(() => service.stop());
afterEach(() => service.db.deleteFrom('item').execute());

describe.each([
  ['Apache', 'apache2', ['-X', '-f', 'FOLDER/cfg'], apache, /^"[\w-]{27}-gzip"$/],
  ['nginx', 'nginx', ['-p', 'FOLDER', '-e', 'stderr', '-c', 'FOLDER/cfg'], nginx, /^W\/"[\w-]{27}"$/],
  ['HAProxy', 'haproxy', ['-db', '-f', 'FOLDER/cfg'], haproxy, /^W\/"[\w-]{27}"$/],
] as const)('Behind %s', (_, name, args, configuration, changedTag) => {
  let proxy: Awaited<ReturnType<typeof startProgram>>;
  let port: number;

  beforeAll(async () => {
    port = await freePort();
    proxy = await startProgram(name, [...args], { cfg: configuration(port, service.url) }, port);
  });
  afterAll(() => proxy.stop());

  async function open(method: string, path: string, headers: OutgoingHttpHeaders = {}, body = '') {
    const options = { port, method, path, headers: { 'accept-encoding': 'gzip', ...headers }, agent: false } as const;
    const sent = request({ ...options, host: '127.0.0.1', localAddress: CLIENT }).end(body);
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    return response;
  }

  async function send(...args: Parameters<typeof open>) {
    const response = await open(...args);
    const bytes = Buffer.concat(await response.toArray());
    const isCompressed = response.headers['content-encoding'] === 'gzip' && bytes.length > 0;
    return {
      status: response.statusCode,
      headers: response.headers,
      body: (isCompressed ? gunzipSync(bytes) : bytes).toString(),
    };
  }

  const json = { 'content-type': 'application/json' };
  const change = (path: string, tag: string, title: string) =>
    send('PUT', path, { ...json, 'if-match': tag }, JSON.stringify({ title }));

  test('the tag that it makes of an ETag matches, and an old one does not', async () => {
    const { body } = await send('POST', '/v1/items', json, '{"title":"a"}');
    const path = `/v1/items/${(JSON.parse(body) as { id: number }).id}`;
    const first = await send('GET', path);
    const tag = first.headers.etag!;
    expect([first.headers['content-encoding'], tag]).toEqual(['gzip', expect.stringMatching(changedTag)]);

    expect((await send('GET', path, { 'if-none-match': tag })).status).toBe(304);
    expect((await change(path, tag, 'b')).status).toBe(200);
    expect((await send('GET', path, { 'if-none-match': tag })).status).toBe(200);
    expect((await change(path, tag, 'c')).status).toBe(412);
    expect((await change(path, (await send('GET', path)).headers.etag!, 'c')).status).toBe(200);
  });

  test('the log has the address of the client', async () => {
    const path = `/v1/items/0?behind=${name}`;
    await send('GET', path, { 'x-forwarded-for': '203.0.113.7', forwarded: 'for=203.0.113.8' });
    expect((await service.logged(({ url }) => url === path)).ip).toBe(CLIENT);
  });

  test('a list that breaks off does not look whole', async () => {
    await sql`insert into item (title) select repeat('x', 150) from generate_series(1, 300000)`.execute(service.db);
    const list = await open('GET', '/v1/items?limit=300000', { 'accept-encoding': 'identity' });
    expect(list.statusCode).toBe(200);
    await sql`alter table item rename to gone`.execute(service.db);
    try {
      await expect(text(list)).rejects.toThrow();
    } finally {
      await sql`alter table gone rename to item`.execute(service.db);
    }
  });
});
