/** Version in the `package.json` of the service: `bundle.ts` puts it here. A service that runs from its sources has none. */
export const version = process.env.SERVICE_VERSION || 'unknown';
