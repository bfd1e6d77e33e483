interface TrustedTypes {
  createPolicy(name: string, rules: { createScriptURL: () => string }): { createScriptURL(input: string): string };
}

/** The only script address that the Content-Security-Policy lets a text become. */
const ADDRESS = '/sw.js';

/** Registers what keeps pages and todos for a time without a connection. Pages work without it, on http:// for example. */
export function registerServiceWorker() {
  const { trustedTypes } = globalThis as { trustedTypes?: TrustedTypes };
  try {
    const policy = trustedTypes?.createPolicy('service-worker', { createScriptURL: () => ADDRESS });
    navigator.serviceWorker.register(policy?.createScriptURL(ADDRESS) ?? ADDRESS).catch(() => undefined);
  } catch {
    // The browser has no service workers, or allows none.
  }
}
