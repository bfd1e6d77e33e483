import { networkInterfaces } from 'node:os';
import { describe, expect, test } from '@jest/globals';
import { notes } from './notes-process.ts';

const hasIpv6 = Object.values(networkInterfaces()).some((all) => all!.some(({ family }) => family === 'IPv6'));

describe('`node main.js health`', () => {
  test.each(['0.0.0.0', ...(hasIpv6 ? ['::'] : [])])(
    'exits with 0 while the service responds on HOST=%s, and with 1 otherwise',
    async (HOST) => {
      const service = notes.start({ HOST });
      const { port } = new URL(await service.listening());
      const health = () => notes.start({ HOST, PORT: port }, 'health').ended;
      expect(await health()).toEqual({ code: 0, errors: '' });
      service.child.kill('SIGSTOP');
      expect(await health()).toEqual({ code: 1, errors: '' });
    },
  );
});

test('an unknown command: exit code 1 and one line', async () => {
  const { code, errors } = await notes.start({}, 'serve').ended;
  expect([code, errors]).toEqual([1, expect.stringMatching(/^serve is no command; [^\n]+\n$/)]);
});
