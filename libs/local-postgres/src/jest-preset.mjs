import preset from '../../../jest.preset.mjs';

/** For tests on a real PostgreSQL. */
export default { ...preset, globalSetup: `${import.meta.dirname}/jest-setup.ts` };
