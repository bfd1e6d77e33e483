import preset from '@rest-services/local-postgres/jest-preset';

export default { ...preset, testMatch: ['<rootDir>/**/*.test.ts'] };
