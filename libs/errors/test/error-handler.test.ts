import { describe, expect, test } from '@jest/globals';
import Fastify from 'fastify';
import { handleErrors, HttpError } from '../src/index.ts';

async function answerTo(error: unknown) {
  const lines: string[] = [];
  const app = Fastify({ logger: { level: 'error', stream: { write: (line) => lines.push(line) } } });
  handleErrors(app, { failure: 'Database error' });
  app.get('/', () => Promise.reject(error as Error));
  const response = await app.inject('/');
  return { status: response.statusCode, body: response.json<unknown>(), log: lines.join('') };
}

describe('Errors', () => {
  test('that are meant for the caller are answered with their status and message', async () => {
    expect(await answerTo(new HttpError(404, 'Item not found'))).toEqual({
      status: 404,
      body: { message: 'Item not found' },
      log: '',
    });
  });

  test('of any other kind are answered 500 with a code, and logged whole', async () => {
    const error = Object.assign(new Error('select 1 from secret at 10.0.0.1'), {
      code: '42P01',
      stack: 'Error: the stack',
    });
    const { status, body, log } = await answerTo(error);
    expect([status, body]).toEqual([500, { message: 'Database error', error: { code: '42P01' } }]);
    expect(log).toContain('select 1 from secret');
    expect(log).toContain('the stack');
    expect(log).toContain('reqId');
  });

  test('without a code of their own are answered with one all the same', async () => {
    expect((await answerTo(new TypeError('x is not a function'))).body).toMatchObject({ error: { code: 'UNKNOWN' } });
  });
});
