import stopPostgres from '@rest-services/local-postgres/jest-teardown';

export default async function tearDown() {
  await globalThis.testBrowser?.close();
  await stopPostgres();
}
