import 'preact-iso/router';

// What its own types lack.
declare module 'preact-iso/router' {
  interface LocationHook {
    /** Whether a link has led to this page. */
    wasPush: boolean;
  }
}
