import { expect, test } from '@jest/globals';
import { startShared } from '@rest-services/testing';
import { notesMain } from './notes/bundled.ts';

// Parts of files (RFC 9110, 14), of which each service has those of /docs.

const shared = await startShared(notesMain());

async function get(headers: Record<string, string> = {}) {
  const response = await fetch(`${shared.url}/docs/static/swagger-ui.css`, { headers });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

test('a range that the file has: 206', async () => {
  const { status, headers } = await get({ range: 'bytes=2-4' });
  expect([status, headers.get('content-range')]).toEqual([206, expect.stringMatching(/^bytes 2-4\/\d+$/)]);
});

test('a range that the file does not have: 416 with its length', async () => {
  const bytes = Buffer.byteLength((await get()).text);
  const { status, headers, text } = await get({ range: 'bytes=99999999-' });
  expect([status, headers.get('content-range')]).toEqual([416, `bytes */${bytes}`]);
  expect(text).toBe('{"message":"Range Not Satisfiable"}');
});

test('If-Range, which no file has a strong validator for: 200 with the whole file', async () => {
  const { headers } = await get();
  const dates = ['Thu, 01 Jan 1970 00:00:00 GMT', 'Fri, 01 Jan 2100 00:00:00 GMT', headers.get('last-modified')!];
  for (const validator of [...dates, headers.get('etag')!, '"other"', 'nonsense']) {
    const response = await get({ range: 'bytes=2-4', 'if-range': validator });
    expect([validator, response.status, response.headers.get('content-range')]).toEqual([validator, 200, null]);
  }
});
