// Uses the package in a page, without a bundler: chromium.mjs CHROMIUM PROJECT

import { writeFileSync } from "node:fs";
import { join } from "node:path";

const [chromium, project] = process.argv.slice(2);
const { open } = await import(new URL("../browser.mjs", import.meta.url));
const map = JSON.stringify({ imports: { addrspec: "/node_modules/addrspec/lib/browser.js" } });
writeFileSync(
  join(project, "index.html"),
  `<!doctype html><script type="importmap">${map}</script>
<script type="module">
import { answer } from "./answer.mjs";
globalThis.answer = await answer();
</script>`,
);
const { page, close } = await open(chromium, project);
try {
  await page.goto("/");
  await page.waitForFunction(() => globalThis.answer, undefined, { timeout: 60_000 });
  console.log(JSON.stringify(await page.evaluate(() => globalThis.answer)));
} finally {
  await close();
}
