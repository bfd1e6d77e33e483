import { once } from 'node:events';
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo, Server } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { expect, test } from '@jest/globals';
import { freePort } from '@rest-services/local-postgres';
import { sendJson, startProcess } from '@rest-services/testing';
import { sql } from 'kysely';
import { notesMain } from '../test/notes/bundled.ts';
import { notes } from '../test/process/notes-process.ts';
import { untilBlocked } from '../test/until-blocked.ts';

const TRACE_ID = '0af7651916cd43dd8448eb211c80319c';
const traced = { traceparent: `00-${TRACE_ID}-b7ad6b7169203331-01` };

async function urlOf(server: Server) {
  await once(server.listen(0, '127.0.0.1').unref(), 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Starts a service, calls `act`, and lets the service export the rest. @returns the headers and texts of what it exports */
async function exported(environment: NodeJS.ProcessEnv, act: (url: string) => Promise<unknown>) {
  const exports: object[] = [];
  let body = '';
  const receiver = createServer((request, response) => {
    void buffer(request).then((bytes) => {
      exports.push({ url: request.url, headers: request.headers });
      body += bytes.toString('latin1');
      response.end();
    });
  });
  const service = notes.start({ OTEL_EXPORTER_OTLP_ENDPOINT: await urlOf(receiver), ...environment });
  await act(await service.listening());
  service.child.kill('SIGTERM');
  expect(await service.ended).toEqual({ code: 0, errors: '' });
  receiver.closeAllConnections();
  return { exports, body, log: service.log };
}

test('A drain exports the last spans, as the variables of OpenTelemetry say', async () => {
  const environment = {
    OTEL_BSP_SCHEDULE_DELAY: '60000',
    OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20a',
    OTEL_SERVICE_NAME: 'other',
    OTEL_TRACES_SAMPLER: 'parentbased_always_off',
    TRUST_PROXY: '1',
  };
  const ofProxy = { 'x-forwarded-for': '203.0.113.7', 'x-forwarded-host': 'a.example', 'x-forwarded-proto': 'https' };
  const { exports, body, log } = await exported(environment, async (url) => {
    await sendJson(url, 'GET', '/notes/summary');
    await sendJson(url, 'GET', '/notes/1', undefined, { ...traced, ...ofProxy });
  });
  const headers = { authorization: 'Bearer a', 'content-type': 'application/x-protobuf' };
  expect(exports).toMatchObject([{ url: '/v1/traces', headers }]);
  const texts = ['GET /notes/:id', 'select note', 'other', '1.2.3', ...Object.values(ofProxy)];
  for (const text of texts) expect(body).toContain(text);
  // In the span of the request, and in that of its statement.
  expect(body.split(Buffer.from(TRACE_ID, 'hex').toString('latin1')).length).toBeGreaterThan(2);
  // What is not sampled has ids in the log nevertheless.
  expect(body).not.toContain('/notes/summary');
  expect(log.find(({ url }) => url === '/notes/summary')).toMatchObject({
    trace_id: expect.stringMatching(/^[0-9a-f]{32}$/),
  });
});

test('Every log line of a traced request has trace_id and span_id', async () => {
  const { body, log } = await exported({ OTEL_RESOURCE_ATTRIBUTES: 'team=a' }, async (url) => {
    await sql`alter table note add check (title <> 'bad')`.execute(notes.db);
    expect((await sendJson(url, 'POST', '/notes', { title: 'bad' }, traced)).status).toBe(500);
    await notes.db.transaction().execute(async (locking) => {
      await sql`lock table note in access exclusive mode`.execute(locking);
      const client = new AbortController();
      const left = fetch(`${url}/notes/1`, { headers: traced, signal: client.signal });
      // In a transaction, pg_stat_activity lacks sessions that begin later.
      await untilBlocked(notes.db);
      client.abort();
      await expect(left).rejects.toThrow();
    });
  });
  const ids = { trace_id: TRACE_ID, span_id: expect.stringMatching(/^[0-9a-f]{16}$/) };
  const lines = log.filter(({ reqId }) => reqId);
  expect(lines).toMatchObject([
    { msg: 'request failed', ...ids },
    { msg: 'request', status: 500, ...ids },
    { msg: 'request', aborted: true, ...ids },
  ]);
  for (const { span_id } of lines) expect(body).toContain(Buffer.from(String(span_id), 'hex').toString('latin1'));
  for (const attribute of [/service\.name\W+notes/, /team\W+a\b/]) expect(body).toMatch(attribute);
});

test('A receiver that is down fails no request and no drain, and is logged once', async () => {
  const service = notes.start({
    OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${await freePort()}`,
    OTEL_BSP_SCHEDULE_DELAY: '50',
    // The exporter tries again for as long as that.
    OTEL_EXPORTER_OTLP_TIMEOUT: '500',
  });
  const url = await service.listening();
  for (let turn = 0; turn < 50; turn += 1) expect((await sendJson(url, 'GET', '/notes')).status).toBe(200);
  await service.logged(/^Telemetry not exported$/);
  service.child.kill('SIGTERM');
  expect(await service.ended).toEqual({ code: 0, errors: '' });
  expect(service.log.filter(({ msg }) => msg === 'Telemetry not exported')).toHaveLength(1);
});

test('A receiver that never responds fails no request, and delays no drain beyond its limit', async () => {
  const silent = createServer(() => undefined);
  const service = notes.start({ OTEL_EXPORTER_OTLP_ENDPOINT: await urlOf(silent), OTEL_BSP_SCHEDULE_DELAY: '50' });
  const url = await service.listening();
  expect((await sendJson(url, 'GET', '/notes')).status).toBe(200);
  await once(silent, 'request');
  expect((await sendJson(url, 'GET', '/notes')).status).toBe(200);
  service.child.kill('SIGTERM');
  // Beyond its limit, the drain ends with 1.
  expect(await service.ended).toEqual({ code: 0, errors: '' });
  silent.closeAllConnections();
});

test.each([
  ['OTEL_EXPORTER_OTLP_ENDPOINT is not set', {}],
  ['OTEL_SDK_DISABLED is true', { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9', OTEL_SDK_DISABLED: 'true' }],
])('Telemetry is not loaded where %s', async (_, environment) => {
  // A bundle without the file would end at its start if it loaded it.
  const folder = await mkdtemp(join(tmpdir(), 'notes-'));
  await cp(dirname(notesMain()), folder, { recursive: true, filter: (file) => !file.endsWith('telemetry.js') });
  const service = startProcess(join(folder, 'main.js'), { DATABASE_URL: notes.database.url, ...environment });
  const url = await service.listening();
  expect((await sendJson(url, 'GET', '/notes', undefined, traced)).status).toBe(200);
  expect(await service.logged(/^request$/)).not.toHaveProperty('trace_id');
  service.child.kill('SIGTERM');
  expect(await service.ended).toEqual({ code: 0, errors: '' });
  await rm(folder, { recursive: true });
});
