/**
 * Types an address into the sign-up form at URL, which runs the example of the
 * guide about browser keys, and prints the hint that it shows:
 *
 *   node example.mjs CHROMIUM URL ADDRESS
 */

import { createRequire } from "node:module";

const require = createRequire(new URL("../../../edge/package.json", import.meta.url));
/** @type {typeof import("../../../edge/node_modules/playwright-core/index.js")} */
const { chromium } = require("playwright-core");

const [executablePath, url = "", address = ""] = process.argv.slice(2);
const browser = await chromium.launch({ executablePath, args: ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run"] });
try {
  const page = await browser.newPage();
  await page.goto(url);
  await page.fill("input", address);
  await page.locator("input").blur();
  // The page sets failed if the browser refuses the answer to it.
  await page.waitForFunction("failed || document.querySelector('#email-hint').textContent !== ''");
  console.log(await page.locator("#email-hint").textContent());
} finally {
  await browser.close();
}
