import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { parse } from 'node:querystring';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { startService } from '@rest-services/testing';
import type { LanguagesDatabase } from '../src/database.ts';

// How URL-encoded bodies are read. What their fields may be is the same as in JSON.

const service = await startService<LanguagesDatabase>('dist/main.js');
beforeEach(() => service.db.deleteFrom('programming_language').execute());

const stored = () => service.db.selectFrom('programming_language').selectAll().execute();

async function post(body: string | Buffer, headers: Record<string, string> = {}) {
  const response = await fetch(`${service.url}/programming-languages`, {
    method: 'POST',
    body,
    headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
  });
  return [response.status, ((await response.json()) as { message: string }).message];
}

describe('A form', () => {
  test.each([
    ['name=Visual+Basic+%2B+C%23&released_year=1991', 'Visual Basic + C#'],
    ['name=100%&released_year=1', '100%'],
    ['name=A%EF%BF%BD&released_year=1', 'A\ufffd'],
    ['n%61me=A\ufffd&released%5fyear=1', 'A\ufffd'],
    ['\ufeffname=a&released_year=1', 'a'],
    ['name=a&name=b&released_year=1&released_year=abc', 'a'],
    ['other=%ff&%ff=1&name=a&released_year=1&__proto__=2&constructor', 'a'],
    [`${'f=&'.repeat(2_000)}name=a&released_year=1`, 'a'],
  ])('as a browser may write it is read: %s', async (form, name) => {
    expect(await post(form)).toEqual([200, 'Programming language created successfully']);
    expect(await stored()).toMatchObject([{ name, githut_rank: null }]);
  });

  const unnamed = ['&', 'name', '__proto__=a', 'name=&name=a&released_year=1991'];
  test.each(unnamed)('without a name, or with another one behind a blank one, is refused: %s', async (form) => {
    expect(await post(form)).toEqual([400, 'Name cannot be empty']);
  });

  const otherEncodings = [
    'name=caf%E9&released_year=1',
    'name=%ED%A0%80&released_year=1',
    'name=a\xff&released_year=1',
  ];
  test.each(otherEncodings)('that is not UTF-8 is refused, not stored altered: %s', async (form) => {
    expect(await post(Buffer.from(form, 'latin1'))).toEqual([400, 'Body is not valid UTF-8']);
  });

  test('that is not UTF-8 is refused before all of it has arrived', async () => {
    const headers = { 'content-type': 'application/x-www-form-urlencoded', 'content-length': '1000000' };
    const sent = request(`${service.url}/programming-languages`, { method: 'POST', headers });
    sent.on('error', () => undefined).write(Buffer.from('name=\xff'.padEnd(200_000, 'x'), 'latin1'));
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    expect(response.statusCode).toBe(400);
    sent.destroy();
  });

  test('of another type gets 415, which says what is accepted', async () => {
    const message = 'Content-Type must be application/json or application/x-www-form-urlencoded';
    expect(await post('name=a', { 'content-type': 'text/plain' })).toEqual([415, message]);
  });

  test('that is not plain UTF-8 by its headers is refused', async () => {
    const refused = [415, 'Body must be in UTF-8 and not compressed'];
    const form = 'name=a&released_year=1';
    const type = 'application/x-www-form-urlencoded';
    expect(await post(form, { 'content-type': `${type}; charset=utf-16` })).toEqual(refused);
    expect(await post(form, { 'content-encoding': 'gzip' })).toEqual(refused);
    const plain = { 'content-type': `${type};notcharset=latin1; charset="UTF-8"`, 'content-encoding': 'Identity' };
    expect((await post(form, plain))[0]).toBe(200);
  });

  test('of 1 MiB takes less than half of the CPU time that an object of all its fields takes', async () => {
    const different = Array.from({ length: 200_000 }, (_, n) => n.toString(36)).join('&');
    const ownBefore = process.cpuUsage();
    for (let turn = 0; turn < 5; turn += 1) parse(different, '&', '=', { maxKeys: 0 });
    const limit = process.cpuUsage(ownBefore).user / 1e6 / 2;
    for (const form of [different, ...['&', 'a&', '%x&', '%41&', 'name='].map((part) => part.repeat(200_000))]) {
      const before = await cpuOfService();
      for (let turn = 0; turn < 5; turn += 1) await post(form);
      const spent = (await cpuOfService()) - before;
      expect([form.slice(0, 9), spent < limit]).toEqual([form.slice(0, 9), true]);
    }
  });
});

/** CPU time that the service has taken, in seconds. */
async function cpuOfService() {
  const metrics = await (await fetch(`${service.url}/metrics`)).text();
  return Number(/^process_cpu_seconds_total (.*)$/m.exec(metrics)![1]);
}
