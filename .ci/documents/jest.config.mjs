import { withPostgres } from '../jest.preset.mjs';

/** What other programs make of the OpenAPI documents: .ci/steps/documents */
export default {
  ...withPostgres,
  rootDir: import.meta.dirname,
};
