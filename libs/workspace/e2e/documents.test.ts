import { createRequire } from 'node:module';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { closedAtEnd, startService, type TestService } from '@rest-services/testing';
import { services } from '@rest-services/workspace';
import { chromium, type Page } from 'playwright-core';

// Tools that fill in each parameter of a document, and send what they have filled in.

/** Postman's own import, which comes without types. */
const { convertV2 } = createRequire(import.meta.url)('openapi-to-postmanv2') as {
  convertV2: (input: object, options: object, done: (error: Error | null, converted: Converted) => void) => void;
};

interface Converted {
  output: { data: Folder }[];
}

interface Folder {
  item?: Folder[];
  request?: Request;
}

interface Request {
  method: string;
  url: { path: string[]; query: Field[] };
  header?: Field[];
  body?: { raw: string };
}

interface Field {
  key: string;
  value: string;
}

const workspace = join(import.meta.dirname, '../../..');

describe.each(services())('The document of $name', ({ name, path }) => {
  let service: TestService;
  beforeAll(async () => {
    service = await startService(join(workspace, 'apps', name, 'dist/main.js'));
  });
  afterAll(() => service.stop());

  // The second language of one name is a 409.
  const created = name === 'programming-languages' ? 1 : 2;

  async function ids() {
    const body = (await (await fetch(service.url + path)).json()) as { id: number }[] | { data: { id: number }[] };
    return ('data' in body ? body.data : body).map(({ id }) => id);
  }

  test('as a page (/docs): each operation is carried out as it opens, and each POST makes a row', async () => {
    const browser = await chromium.connect(process.env.TEST_BROWSER_URL!);
    closedAtEnd(() => browser.close());
    const page = await browser.newPage();
    await page.goto(`${service.url}/docs`);
    await page.locator('.opblock').first().waitFor();
    for (let n = 0; n < 2; n += 1) await execute(page, 'post', 0);
    expect(await ids()).toHaveLength(created);
    for (const method of ['get', 'put', 'delete'])
      // From below, because the first DELETE of tutorials leaves none.
      for (let n = (await page.locator(`.opblock-${method}`).count()) - 1; n >= 0; n -= 1)
        expect([method, n, await execute(page, method, n)]).toEqual([method, n, 200]);
  });

  test.each(['Schema', 'Example'])('as a collection of Postman (%s): no header refuses a request', async (filled) => {
    const data = await (await fetch(`${service.url}/openapi.json`)).text();
    const requests = await importDocument(data, { parametersResolution: filled });
    const before = await ids();
    const posts = requests.filter(({ method }) => method === 'POST');
    const statuses: number[] = [];
    for (const request of [...posts, ...posts]) statuses.push(await send(request));
    const after = await ids();
    // By the schema alone, numbers are texts, which a service refuses that takes numbers.
    if (!statuses.includes(400)) expect(after).toHaveLength(before.length + created);
    for (const request of requests) statuses.push(await send(request, after.at(-1)));
    expect([412, 422].filter((status) => statuses.includes(status))).toEqual([]);
  });

  /** Sends a request, with an id where its path has one. @returns the status */
  async function send({ method, url, header = [], body }: Request, id: number | string = '<long>') {
    const target = new URL(url.path.map((part) => part.replace(/^:.*/, `${id}`)).join('/'), service.url);
    for (const { key, value } of url.query) target.searchParams.append(key, value);
    const headers = header.map(({ key, value }): [string, string] => [key, value]);
    const response = await fetch(target, { method, headers, ...(body ? { body: body.raw } : {}) });
    await response.arrayBuffer();
    return response.status;
  }
});

/** Presses the buttons of an operation of /docs. @returns the status of the response */
async function execute(page: Page, method: string, n: number) {
  const operation = page.locator(`.opblock-${method}`).nth(n);
  if (!(await operation.locator('.execute').isVisible())) {
    await operation.locator('.opblock-summary-control').click();
    await operation.locator('.try-out__btn').click();
  }
  const isAnswer = page.waitForResponse((received) => received.request().method() === method.toUpperCase());
  await operation.locator('.execute').click();
  return (await isAnswer).status();
}

/** Imports a document as Postman does. @returns the requests of its collection */
async function importDocument(data: string, options: object) {
  const converted = await new Promise<Converted>((resolve, reject) =>
    convertV2({ type: 'string', data }, options, (error, result) => (error ? reject(error) : resolve(result))),
  );
  const requestsOf = ({ item = [], request }: Folder): Request[] => [request ?? [], item.flatMap(requestsOf)].flat();
  return converted.output.flatMap(({ data: folder }) => requestsOf(folder));
}
