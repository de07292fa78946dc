// Runs page.ts in Chromium: chromium.mjs CHROMIUM DIRECTORY, which contains page.js, addrspec.wasm and
// addresses.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { open } from "../browser.mjs";

const [chromium, directory] = process.argv.slice(2);
writeFileSync(
  join(directory, "index.html"),
  '<!doctype html><script type="module" src="page.js"></script>',
);
const { page, close } = await open(chromium, directory);
try {
  await page.goto("/");
  await page.waitForFunction(() => globalThis.digests, undefined, { timeout: 60_000 });
  console.log(JSON.stringify(await page.evaluate(() => globalThis.digests)));
} finally {
  await close();
}
