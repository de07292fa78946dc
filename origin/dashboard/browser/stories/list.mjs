// A list of 1,000 addresses goes in and comes out: list.mjs ENDPOINT PICTURE LINK.

import assert from "node:assert/strict";
import { accessible, run, text } from "../story.mjs";

/** @typedef {import("playwright-core").Page} Page */

const ROWS = 1000;

await run(async ({ open, args: [link = ""] }) => {
  const page = await open();
  await page.goto(link);
  await page.getByRole("button", { name: "Continue" }).click();
  await page.getByRole("link", { name: "Lists" }).click();
  await accessible(page);
  await choose(page);
  await accessible(page, "a file is chosen");
  await page.getByRole("button", { name: "Start" }).click();
  await page.locator("#download").waitFor({ timeout: 120_000 });
  await accessible(page, "a list is done");
  const lines = await download(page);
  assert.equal(lines.length, ROWS + 1);
  assert.match(lines[0] ?? "", /^number,mail,.*valid.*,error/);
  lines.slice(1).forEach((line, i) => {
    const address = i % 10 === 0 ? `no-address-${i}` : `person${i}@example.com`;
    assert.ok(line.startsWith(`${i},${address},`), line);
    assert.ok(line.includes(i % 10 === 0 ? ",false," : ",true,"), line);
  });
  await page.getByRole("link", { name: "Usage" }).click();
  assert.match(await text(page, "tr.total"), /900|1,000/, "the points are counted");
});

/** @param {Page} page */
async function choose(page) {
  const rows = Array.from({ length: ROWS }, (_, i) =>
    i % 10 === 0 ? `${i},no-address-${i}` : `${i},person${i}@example.com`,
  );
  await page.locator("#file").setInputFiles({
    name: "customers.csv",
    mimeType: "text/csv",
    buffer: Buffer.from(`number,mail\r\n${rows.join("\r\n")}\r\n`),
  });
  await page.getByRole("button", { name: "Start" }).waitFor();
}

/** The lines of the file that comes out. @param {Page} page */
async function download(page) {
  const [file] = await Promise.all([
    page.waitForEvent("download"),
    page.locator("#download").click(),
  ]);
  const out = Buffer.concat(await (await file.createReadStream()).toArray()).toString();
  return out
    .replace(/^\ufeff/, "")
    .trimEnd()
    .split(/\r?\n/);
}
