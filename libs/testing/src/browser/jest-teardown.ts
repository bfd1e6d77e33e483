export default async function tearDown() {
  await globalThis.testBrowser?.close();
}
