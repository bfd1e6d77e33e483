import { describe, expect, test } from '@jest/globals';
import Fastify from 'fastify';
import { handleErrors, HttpError, type ErrorFormat } from '../src/index.ts';

async function answerTo(error: unknown, errorFormat: Partial<ErrorFormat> = {}) {
  const lines: string[] = [];
  const app = Fastify({ logger: { level: 'error', stream: { write: (line) => lines.push(line) } } });
  handleErrors(app, { failure: 'Database error', includeCode: true, ...errorFormat });
  app.get('/', () => Promise.reject(error as Error));
  const response = await app.inject('/');
  const retryAfter = response.headers['retry-after'];
  return { status: response.statusCode, body: response.json<unknown>(), log: lines.join(''), retryAfter };
}

describe('Errors', () => {
  const overload = 'The service is overloaded, try again in a moment';
  const undone = (code: string) => Object.assign(new Error('canceling statement'), { code });
  test.each<[string, Error, number, string]>([
    ['meant for the caller', new HttpError(404, 'Item not found'), 404, 'Item not found'],
    ['of a service that has too much to do', new HttpError(503, 'Try again'), 503, 'Try again'],
    ['of a statement that was cancelled', undone('57014'), 503, overload],
    ['of a lock that did not come', undone('55P03'), 503, overload],
    ['of a deadlock', undone('40P01'), 503, overload],
    ['of a conflict of transactions', undone('40001'), 503, overload],
  ])('%s are answered with their status, and 503 with Retry-After', async (_, error, status, message) => {
    expect(await answerTo(error)).toEqual({
      status,
      body: { message },
      log: '',
      retryAfter: status === 503 ? '1' : undefined,
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

  test('carry no code where the contract does not say so', async () => {
    const { body } = await answerTo(new Error('x'), { failure: 'Internal Server Error', includeCode: false });
    expect(body).toEqual({ message: 'Internal Server Error' });
  });

  test.each([
    ['23505', 409],
    ['23502', 400],
    ['23514', 400],
    ['22001', 400],
    ['22003', 400],
    ['22021', 400],
    ['22P05', 400],
    ['22P02', 400],
    ['08006', 500],
  ])('of the database with SQLSTATE %s are %i where the contract leaves them to the handler', async (code, status) => {
    const error = Object.assign(new Error('insert into secret'), { code, constraint: 'name_unique' });
    const { status: answered, body, log } = await answerTo(error, { constraints: { name_unique: 'Name is taken' } });
    expect(answered).toBe(status);
    expect(body).toMatchObject({ message: status === 500 ? 'Database error' : 'Name is taken' });
    expect(JSON.stringify(body)).not.toContain('secret');
    expect((await answerTo(error)).status).toBe(500);
    expect(log === '').toBe(status !== 500);
  });

  test('without a code of their own are answered with one all the same', async () => {
    expect((await answerTo(new TypeError('x is not a function'))).body).toMatchObject({ error: { code: 'UNKNOWN' } });
  });
});
