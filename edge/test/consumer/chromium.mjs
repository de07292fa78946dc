// Uses the package in a page, without a bundler: chromium.mjs CHROMIUM PROJECT [FEED KEY]

import { writeFileSync } from "node:fs";
import { join } from "node:path";

const [chromium, project, url, key] = process.argv.slice(2);
const { open } = await import(new URL("../browser.mjs", import.meta.url));
const lib = "/node_modules/addrspec/lib";
const imports = { addrspec: `${lib}/browser.js`, "addrspec/lists": `${lib}/lists.js` };
const work = url === undefined ? "results()" : `update(${JSON.stringify([url, key]).slice(1, -1)})`;
writeFileSync(
  join(project, "index.html"),
  `<!doctype html><script type="importmap">${JSON.stringify({ imports })}</script>
<script type="module">
import { results } from "./results.mjs";
import { update } from "./update.mjs";
globalThis.results = await ${work};
</script>`,
);
const { page, close } = await open(chromium, project);
try {
  await page.goto("/");
  await page.waitForFunction(() => globalThis.results, undefined, { timeout: 60_000 });
  console.log(JSON.stringify(await page.evaluate(() => globalThis.results)));
} finally {
  await close();
}
