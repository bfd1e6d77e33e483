import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Launcher } from 'chrome-launcher';
import { chromium, type BrowserServer, type LaunchOptions } from 'playwright-core';

/** Nothing but the pages under test is asked for over the network. */
const args = ['--disable-background-networking', '--disable-component-update', '--disable-sync', '--disable-quic'];

/** Pages look as they do for people, with scrollbars. */
const options: LaunchOptions = { args, ignoreDefaultArgs: ['--hide-scrollbars'] };

/**
 * Starts a headless Chromium: the one that `CHROME_PATH` names or that is installed, else the one in the npm package
 * `@sparticuz/chromium`, for Linux on x64.
 * @throws Error when there is none that starts
 */
export async function startChromium(): Promise<BrowserServer> {
  const installed = installedPath();
  if (installed) return chromium.launchServer({ executablePath: installed, ...options });

  const folder = await mkdtemp(join(tmpdir(), 'chromium-'));
  const browser = await chromium.launchServer({ ...(await unpackChromium(folder)), ...options });
  browser.once('close', () => void rm(folder, { recursive: true, force: true }));
  return browser;
}

function installedPath() {
  try {
    return Launcher.getFirstInstallation();
  } catch {
    // Its way to say that there is none.
    return undefined;
  }
}

/** The package unpacks itself into the folder for temporary files, and its libraries are found through the environment. */
async function unpackChromium(folder: string): Promise<LaunchOptions> {
  if (process.platform !== 'linux' || process.arch !== 'x64') {
    throw new Error('The browser tests need Chrome or Chromium: install one, or set CHROME_PATH');
  }
  const before = { ...process.env };
  Object.assign(process.env, { TMPDIR: folder, AWS_LAMBDA_JS_RUNTIME: 'nodejs22.x' });
  try {
    const { default: packed } = await import('@sparticuz/chromium');
    const executablePath = await packed.executablePath();
    // Its own names folders that it expects elsewhere: without a font no text has a size.
    await writeFile(
      join(folder, 'fonts', 'fonts.conf'),
      `<fontconfig><dir>${join(folder, 'fonts')}</dir><cachedir>${join(folder, 'cache')}</cachedir></fontconfig>`,
    );
    return { executablePath, env: { ...process.env } };
  } finally {
    for (const name of Object.keys(process.env)) if (!(name in before)) Reflect.deleteProperty(process.env, name);
    Object.assign(process.env, before);
  }
}
