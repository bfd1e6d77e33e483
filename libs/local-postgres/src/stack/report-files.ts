// Loaded before a service that restart-on-change.ts starts: tells it the path of each file that the service loads.
import { registerHooks } from 'node:module';
import { fileURLToPath } from 'node:url';

registerHooks({
  load(url, context, nextLoad) {
    if (url.startsWith('file:') && !url.includes('/node_modules/')) process.send?.(fileURLToPath(url));
    return nextLoad(url, context);
  },
});
