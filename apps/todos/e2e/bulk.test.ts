import { describe, expect, test } from '@jest/globals';
import { sql } from 'kysely';
import { settles, shows, useService } from '../test/browser.ts';
import { axeFindsNothing } from './axe.ts';

const ui = useService();
const { page, open, proxy, service, storeMany, button } = ui;

async function doneInDatabase() {
  const { rows } = await sql<{ done: number }>`select count(*)::int done from todo where "isCompleted" = 1`.execute(
    service().db,
  );
  return rows[0]!.done;
}

/** Ticks all todos of the list. */
async function tickAll() {
  await button('Select').click();
  await button('All').click();
  await button('Mark as done').click();
}

/** Ticks 300 todos, of which 100 arrive until the function that this returns is called. */
async function tickSlowly() {
  await storeMany(300);
  await open('/todos');
  await page().getByRole('checkbox').first().waitFor();
  const release = proxy().hold('PUT', 100);
  await tickAll();
  await shows(page(), '100 of 300 todos are done.');
  expect(await doneInDatabase()).toBe(100);
  return release;
}

describe('Many todos ticked at once', () => {
  test('take one request each, and are said to be done when they are', async () => {
    const release = await tickSlowly();
    expect(
      await page()
        .getByText(/^300 todos are done/)
        .count(),
    ).toBe(0);
    await page().getByRole('progressbar', { name: '100 of 300 todos are done' }).waitFor();
    release();
    await shows(page(), /^300 todos are done\.$/);
    expect(await doneInDatabase()).toBe(300);
    expect(proxy().seen.filter(({ path }) => path !== '/api/todos')).toEqual([]);
    expect(proxy().count('PUT')).toBe(300);
    await button('Undo').click();
    await shows(page(), 'Undone: 300 todos are open again.');
    expect(await doneInDatabase()).toBe(0);
  });

  test('can be stopped: the others stay as they were', async () => {
    const release = await tickSlowly();
    await button('Stop').click();
    release();
    // Four were on their way.
    await shows(page(), '104 todos are done; 196 stay as they were.');
    expect(await doneInDatabase()).toBe(104);
    await page().getByRole('link', { name: 'Done 104' }).waitFor();
    await button('Undo').click();
    await settles(doneInDatabase, 0);
  });

  test('go on after a reload, are counted as they are saved, and can be undone', async () => {
    const release = await tickSlowly();
    const counts = ['All 300', 'Open 200', 'Done 100'];
    await settles(ui.filters, counts);
    // Where it takes so long that the page sends the held ones again, nothing here counts them.
    await axeFindsNothing(page());
    await page().goto('/');
    await shows(page(), '200 open');
    await shows(page(), '100 of 300 todos are done.');
    release();
    await shows(page(), /^300 todos are done\.$/);
    expect(await doneInDatabase()).toBe(300);
    await shows(page(), '300 done');
    await button('Undo').click();
    await settles(doneInDatabase, 0);
  });

  test('leave the page quick: what one costs does not grow with the list', async () => {
    await storeMany(10_000);
    await open('/todos');
    await page().getByRole('searchbox').fill('99');
    await page().getByText('280 todos are listed').waitFor({ state: 'attached' });
    const busyFor = async (act: () => Promise<unknown>) => {
      const devtools = await page().context().newCDPSession(page());
      await devtools.send('Performance.enable');
      const tasks = async () =>
        (await devtools.send('Performance.getMetrics')).metrics.find(({ name }) => name === 'ScriptDuration')!.value;
      const before = await tasks();
      await act();
      return (await tasks()) - before;
    };
    const seconds = await busyFor(async () => {
      await tickAll();
      await shows(page(), /^280 todos are done\.$/);
    });
    // It takes about 2 ms on a busy machine, and took 23 on an idle one.
    expect((seconds * 1_000) / 280).toBeLessThan(15);
  });
});
