import { expect, test } from '@jest/globals';
import { startShared } from '@rest-services/testing';
import { notesMain } from './notes/bundled.ts';

// The address of a client behind proxies. All requests come from 127.0.0.1.

const shared = await startShared(notesMain());

let requests = 0;

/** Sends requests with these headers. @returns the address in the log line of each */
async function addresses(TRUST_PROXY: string, ...all: Record<string, string>[]) {
  const service = shared.start(TRUST_PROXY === '' ? {} : { TRUST_PROXY });
  const url = await service.listening();
  const ips = [];
  for (const headers of all) {
    const path = `/nowhere/${(requests += 1)}`;
    await (await fetch(url + path, { headers })).text();
    const { ip } = await service.logged((line) => line.url === path);
    ips.push(ip);
  }
  return ips;
}

const xForwarded = (value: string) => ({ 'x-forwarded-for': value });

test('without TRUST_PROXY, the log has the address of the connection, whatever headers say', async () => {
  const forwarded = { forwarded: 'for=203.0.113.7' };
  expect(await addresses('', xForwarded('203.0.113.7'), forwarded)).toEqual(['127.0.0.1', '127.0.0.1']);
});

test('with the addresses of proxies, the log has the first address before them in X-Forwarded-For', async () => {
  expect(
    await addresses(
      'loopback, 10.0.0.0/8',
      {},
      xForwarded('203.0.113.7'),
      xForwarded('198.51.100.1, 203.0.113.7, 10.1.2.3'),
      xForwarded('2001:db8::1'),
      xForwarded('"a\\'),
    ),
  ).toEqual(['127.0.0.1', '203.0.113.7', '203.0.113.7', '2001:db8::1', '"a\\']);
});

test('with the address of another proxy, headers of 127.0.0.1 do not count', async () => {
  const forwarded = { forwarded: 'for=203.0.113.7' };
  expect(await addresses('10.0.0.0/8', xForwarded('203.0.113.7'), forwarded)).toEqual(['127.0.0.1', '127.0.0.1']);
});

test('with a number of proxies, the log has the address that the first of them has seen', async () => {
  const headers = [{}, xForwarded('203.0.113.7'), xForwarded('198.51.100.1, 203.0.113.7')];
  expect(await addresses('1', ...headers)).toEqual(['127.0.0.1', '203.0.113.7', '203.0.113.7']);
  expect(await addresses('2', ...headers)).toEqual(['127.0.0.1', '203.0.113.7', '198.51.100.1']);
});

test('Forwarded counts as X-Forwarded-For does, where that is not there', async () => {
  expect(
    await addresses(
      'loopback',
      { forwarded: 'for=203.0.113.7' },
      { forwarded: 'For="203.0.113.7:4711";by=10.0.0.1;proto=https' },
      { forwarded: 'for="[2001:db8::1]:4711"' },
      { forwarded: 'by="a;for=192.0.2.1, for=192.0.2.1", for=203.0.113.7;host=a, for="[::1]"' },
      { forwarded: 'for=_hidden' },
      { forwarded: 'nonsense' },
      { forwarded: 'for=192.0.2.1', ...xForwarded('203.0.113.7') },
    ),
  ).toEqual(['203.0.113.7', '203.0.113.7', '2001:db8::1', '203.0.113.7', '_hidden', '127.0.0.1', '203.0.113.7']);
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
