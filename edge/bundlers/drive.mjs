// Opens a page of a directory or a server, and prints what it sets as globalThis.results:
// drive.mjs CHROMIUM DIR|URL [PATH]

import { open } from "../test/browser.mjs";

const [chromium, place, path = "/"] = process.argv.slice(2);
const { page, close } = await open(chromium, place);
try {
  await page.goto(path);
  await page.waitForFunction(() => globalThis.results, undefined, { timeout: 120_000 });
  process.stdout.write(await page.evaluate(() => globalThis.results));
} finally {
  await close();
}
