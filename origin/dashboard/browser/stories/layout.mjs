// Lists are checked on the page in every way, and their results kept as DIRECTORY/N-WAY.csv:
// layout.mjs ENDPOINT PICTURE LINK DIRECTORY FILES, where FILES is JSON with the paths of the lists.

import { join } from "node:path";
import { enter, run } from "../story.mjs";

/** @typedef {import("playwright-core").Page} Page */

/** The ways, and what their form has. @type {Record<string, { how: string, safe: boolean }>} */
const WAYS = {
  online: { how: "All facts", safe: false },
  offline: { how: "All but MX", safe: false },
  safe: { how: "All but MX", safe: true },
};

await run(async ({ open, args: [link = "", directory = "", files = ""] }) => {
  const page = await open();
  await enter(page, link);
  for (const [n, file] of /** @type {string[]} */ (JSON.parse(files)).entries()) {
    for (const [way, { how, safe }] of Object.entries(WAYS)) {
      await page.goto(new URL("/dashboard/lists", page.url()).href); // without another list
      await page.locator("#file").setInputFiles(file);
      await page.getByLabel(how).check();
      await page.getByLabel("For a spreadsheet").setChecked(safe);
      await page.locator("#start").click();
      await page.getByText("The list is done.").waitFor();
      const [result] = await Promise.all([
        page.waitForEvent("download"),
        page.locator("#download").click(),
      ]);
      await result.saveAs(join(directory, `${n}-${way}.csv`));
    }
  }
});
