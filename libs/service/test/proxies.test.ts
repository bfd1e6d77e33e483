import { expect, test } from '@jest/globals';
import { startShared } from '@rest-services/testing';
import { notesMain } from './notes/bundled.ts';

// The address of a client behind proxies. All requests come from 127.0.0.1.

const shared = await startShared(notesMain());

let requests = 0;

/** Sends requests with these X-Forwarded-For headers. @returns the address in the log line of each */
async function addresses(environment: NodeJS.ProcessEnv, ...forwarded: string[]) {
  const service = shared.start(environment);
  const url = await service.listening();
  const ips = [];
  for (const value of forwarded) {
    const path = `/nowhere/${(requests += 1)}`;
    await (await fetch(url + path, { headers: value === '' ? {} : { 'x-forwarded-for': value } })).text();
    ips.push((await service.logged((line) => line.url === path)).ip);
  }
  return ips;
}

test.each([
  ['without TRUST_PROXY', {}],
  ['with the address of another proxy', { TRUST_PROXY: '10.0.0.0/8' }],
])('%s, the log has the address of the connection, whatever headers say', async (_, environment) => {
  expect(await addresses(environment, '203.0.113.7')).toEqual(['127.0.0.1']);
});

test('with the addresses of proxies, the log has the first address before them in X-Forwarded-For', async () => {
  const headers = ['', '203.0.113.7', '198.51.100.1, 203.0.113.7, 10.1.2.3', '2001:db8::1', '"a\\'];
  expect(await addresses({ TRUST_PROXY: 'loopback, 10.0.0.0/8' }, ...headers)).toEqual([
    '127.0.0.1',
    '203.0.113.7',
    '203.0.113.7',
    '2001:db8::1',
    '"a\\',
  ]);
});

test.each([
  ['1', ['127.0.0.1', '203.0.113.7', '203.0.113.7']],
  ['2', ['127.0.0.1', '203.0.113.7', '198.51.100.1']],
])('with %s as the number of proxies, the log has the address that the first of them has seen', async (hops, seen) => {
  const headers = ['', '203.0.113.7', '198.51.100.1, 203.0.113.7'];
  expect(await addresses({ TRUST_PROXY: hops }, ...headers)).toEqual(seen);
});

test('links stay relative, so that they hold behind any proxy', async () => {
  const url = await shared.start({ TRUST_PROXY: 'loopback' }).listening();
  const headers = {
    'content-type': 'application/json',
    'x-forwarded-host': 'example.org',
    'x-forwarded-proto': 'https',
    'x-forwarded-prefix': '/prefix',
  };
  const created = await fetch(`${url}/notes`, { method: 'POST', headers, body: '{"title":"a"}' });
  expect(created.headers.get('location')).toBe('notes/1');
  const docs = await fetch(`${url}/docs`, { headers, redirect: 'manual' });
  expect(docs.headers.get('location') ?? '').not.toMatch(/^https?:/);
});
