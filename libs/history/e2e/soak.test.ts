import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { growthOf } from '../src/growth.ts';
import { withService } from './service.ts';

const SOAK = join(import.meta.dirname, '../src/soak.ts');

/** Runs one round of the command. */
const soak = (url: string) =>
  new Promise<{ code: unknown; output: string }>((resolve) => {
    execFile(process.execPath, [SOAK, '--minutes', '0.01', '--url', url], (error, stdout, stderr) =>
      resolve({ code: error?.code ?? 0, output: stdout + stderr }),
    );
  });

test('npm run soak passes a sound service, and leaves the items as they were', () =>
  withService(async (url) => {
    const headers = { 'content-type': 'application/json' };
    await fetch(`${url}/v1/items`, { method: 'POST', headers, body: '{"title":"Buy milk"}' });
    await fetch(`${url}/v1/items/1`, { method: 'PUT', headers, body: '{"status":"Finished"}' });
    const { code, output } = await soak(url);
    expect(output).toMatch(/^round 1: [1-9]\d+ requests, 0 failed, .*PASS$/ms);
    expect(code).toBe(0);
    expect(await (await fetch(`${url}/v1/items`)).json()).toMatchObject([{ title: 'Buy milk', status: 'Finished' }]);
  }));

test('npm run soak fails a service that acknowledges deletes and does not make them', async () => {
  const plant = { text: 'await items.delete(request.params.id,ifMatch(request))', by: 'true' };
  const { code, output } = await withService(soak, plant);
  expect(output).toMatch(/^FAIL$.*^not "items are linearizable".* DELETE /ms);
  expect(code).toBe(1);
});

test('Growth is a trend of many samples, not a step or noise', () => {
  const noisy = Array.from({ length: 40 }, (_, round) => 100 + (round % 3) * 5);
  expect(growthOf(noisy).growth).toBeLessThan(5);
  expect(growthOf(noisy.map((value, round) => value + round)).growth).toBeGreaterThan(25);
  expect(growthOf(noisy.map((_, round) => Math.min(round, 9) + 90)).growth).toBeLessThan(5);
  expect(growthOf(noisy.slice(0, 5)).growth).toBeNaN();
});
