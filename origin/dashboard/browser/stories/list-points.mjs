// A list for which the account has too few points: list-points.mjs ENDPOINT PICTURE LINK.

import assert from "node:assert/strict";
import { accessible, enter, run, text } from "../story.mjs";

await run(async ({ open, args: [link = ""] }) => {
  const page = await open();
  await enter(page, link);
  await page.getByRole("link", { name: "Lists" }).click();
  const addresses = Array.from({ length: 300 }, (_, i) => `person${i}@example.com\n`);
  await page.locator("#file").setInputFiles({
    name: "customers.txt",
    mimeType: "text/plain",
    buffer: Buffer.from(addresses.join("")),
  });
  await page.getByRole("button", { name: "Check about 100" }).click();
  await page.locator("#problem-card").waitFor();
  assert.match(await text(page, "#problem-text"), /too few points\. 36 are left .* needs 64/);
  assert.match(await text(page, "#counts"), /^64 addresses checked, 236 not\./);
  assert.ok(await page.locator("#download").isVisible());
  await accessible(page);
});
