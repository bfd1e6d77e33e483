import { afterAll, expect, test } from '@jest/globals';
import { freePort } from '@rest-services/local-postgres';
import { sendJson, startService } from '@rest-services/testing';
import { block, install, main, startProgram } from './program.ts';

// Proxies of Debian before the service that compress JSON: one as it is, one with the lines of docker/operate.md.
install('apache2', 'nginx');

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
    ${block('operate.md', 'nginx\n').replace('http://items:8080', service)}
  }
}
`;

const service = await startService(main, { NODE_ENV: 'production', SHUTDOWN_DELAY_MS: '0' });
afterAll(() => service.stop());

test.each([
  ['Apache', 'apache2', ['-X', '-f', 'FOLDER/cfg'], apache, /^"[\w-]{27}-gzip"$/],
  ['nginx', 'nginx', ['-p', 'FOLDER', '-e', 'stderr', '-c', 'FOLDER/cfg'], nginx, /^W\/"[\w-]{27}"$/],
] as const)('The tag that %s makes of an ETag matches, and an old one does not', async (...proxy) => {
  const [, name, args, configuration, changedTag] = proxy;
  const port = await freePort();
  const { stop } = await startProgram(name, [...args], { cfg: configuration(port, service.url) }, port);
  const url = `http://127.0.0.1:${port}`;
  const { body } = await sendJson(url, 'POST', '/v1/items', { title: 'a' });
  const path = `/v1/items/${(body as { id: number }).id}`;
  const read = (tag = '"none"') => sendJson(url, 'GET', path, undefined, { 'if-none-match': tag });
  const change = async (tag: string, title: string) =>
    (await sendJson(url, 'PUT', path, { title }, { 'if-match': tag })).status;
  const { headers } = await read();
  const tag = headers.get('etag')!;
  expect([headers.get('content-encoding'), tag]).toEqual(['gzip', expect.stringMatching(changedTag)]);

  expect((await read(tag)).status).toBe(304);
  expect(await change(tag, 'b')).toBe(200);
  expect((await read(tag)).status).toBe(200);
  expect(await change(tag, 'c')).toBe(412);
  expect(await change((await read()).headers.get('etag')!, 'c')).toBe(200);
  await stop();
});
