/**
 * Signs a browser in to a running service, for tests:
 *
 *   const { page, close } = await signIn(CHROMIUM, LINK);
 */

import { createRequire } from "node:module";

const require = createRequire(new URL("../../../edge/package.json", import.meta.url));
/** @type {typeof import("../../../edge/node_modules/playwright-core/index.js")} */
const { chromium } = require("playwright-core");

// No sandbox, because tests may run as root in containers; no background requests.
const FLAGS = [
  "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
  "--disable-component-update", "--disable-sync", "--enable-precise-memory-info",
];

/**
 * @param {string} executablePath
 * @param {string} link a one-time link
 */
export async function signIn(executablePath, link) {
  const browser = await chromium.launch({ executablePath, args: FLAGS });
  const context = await browser.newContext({ acceptDownloads: true });
  const page = await context.newPage();
  /** @type {string[]} */
  const faults = [];
  page.on("pageerror", (error) => faults.push(String(error)));
  page.on("console", (message) => message.type() === "error" && faults.push(message.text()));
  await page.goto(link);
  await Promise.all([page.waitForURL(/dashboard/), page.click("main button[type=submit]")]);
  return { browser, context, page, faults, origin: new URL(link).origin, close: () => browser.close() };
}
