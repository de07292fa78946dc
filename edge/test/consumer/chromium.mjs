// Uses the package in a page, without a bundler: chromium.mjs CHROMIUM PROJECT [schema | FEED KEY]

import { writeFileSync } from "node:fs";
import { join } from "node:path";

const [chromium, project, ...work] = process.argv.slice(2);
const { open } = await import(new URL("../browser.mjs", import.meta.url));
const lib = "/node_modules/addrspec/lib";
const imports = {
  addrspec: `${lib}/browser.js`,
  "addrspec/lists": `${lib}/lists.js`,
  "addrspec/schema": `${lib}/schema.js`,
};
writeFileSync(
  join(project, "index.html"),
  `<!doctype html><script type="importmap">${JSON.stringify({ imports })}</script>
<script type="module">
import { work } from "./work.mjs";
globalThis.results = await work(...${JSON.stringify(work)});
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
