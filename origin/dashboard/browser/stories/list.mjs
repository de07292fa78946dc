// A list of 1,000 addresses is checked, stopped, and goes on: list.mjs ENDPOINT PICTURE LINK.

import assert from "node:assert/strict";
import { accessible, enter, run, text } from "../story.mjs";

/** @typedef {import("playwright-core").Page} Page */

const ROWS = 1000;

await run(async ({ open, args: [link = ""] }) => {
  const page = await open();
  await enter(page, link);
  await page.getByRole("link", { name: "Lists" }).click();
  await accessible(page);
  await chooseEncoding(page);
  await choose(page);
  await accessible(page, "a file is chosen");
  await stopAfter(page, 3);
  await page.getByRole("button", { name: "Check the 808 that are left" }).click();
  await accessible(page, "a list is in progress");
  await done(page);
  assert.match(await text(page, "#counts"), /^1,000 addresses checked, 0 not\. .* 1,000 points\.$/);
  assert.match(await text(page, "#figures"), /^valid\s+900\s+90\.0 %.*invalid\s+100\s+10\.0 %/s);
  await accessible(page, "a list is done");
  check(await download(page), "true");

  await choose(page);
  await page.getByLabel("All but MX").check();
  assert.match(await text(page, "#cost"), /costs nothing/);
  await page.getByRole("button", { name: "Start" }).click();
  await done(page);
  check(await download(page), "");
  await page.getByRole("link", { name: "Usage" }).click();
  assert.match(await text(page, "tr.total"), /1,000/, "the points are counted");
});

/** The page asks for an encoding that it cannot know, and shows words in each. @param {Page} page */
async function chooseEncoding(page) {
  const buffer = Buffer.from("\xe8\xec\xff,email\n\xc1\xee\xf0\xe8\xf1,b@example.com\n", "latin1");
  await page.locator("#file").setInputFiles({ name: "a.csv", mimeType: "text/csv", buffer });
  const line = page.getByRole("row", { name: "Windows-1251, Cyrillic" });
  assert.match(await line.innerText(), /имя\s+Борис/);
  assert.ok(await page.locator("#starting").isHidden());
  await accessible(page, "an encoding is to be chosen");
  await page.getByLabel("Encoding").selectOption("Windows-1251, Cyrillic");
  await page.getByRole("button", { name: "Start" }).waitFor();
  assert.equal(await text(page, "#words"), "Words in this encoding: имя · Борис.");
  assert.match(await text(page, "#preview-body"), /^Борис\s+b@example\.com$/);
}

/** Starts the list, and stops it while its last batch of some is checked. @param {Page} page @param {number} batches */
async function stopAfter(page, batches) {
  let sent = 0;
  /** @type {() => void} */
  let release = () => {};
  const released = new Promise((resolve) => {
    release = () => resolve(null);
  });
  await page.route("**/dashboard/lists/check", async (route) => {
    if (++sent === batches) await released;
    await route.continue();
  });
  await page.getByRole("button", { name: "Start" }).click();
  while (sent < batches) await page.waitForTimeout(20);
  await page.getByRole("button", { name: "Stop" }).click();
  release();
  await page.locator("#finished").waitFor();
  assert.equal(await text(page, "#status"), "Stopped.");
}

/** @param {Page} page */
async function done(page) {
  await page.getByText("The list is done.").waitFor({ timeout: 120_000 });
}

/** Checks every row of a result. @param {string[]} lines @param {string} mx of a valid address */
function check(lines, mx) {
  assert.equal(lines.length, ROWS + 1);
  const names = lines[0]?.split(",") ?? [];
  assert.deepEqual(names.slice(0, 4), ["number", "mail", "valid", "normalized"]);
  const cellOf = (/** @type {string[]} */ cells, /** @type {string} */ name) =>
    cells[names.indexOf(name)];
  lines.slice(1).forEach((line, i) => {
    const cells = line.split(",");
    const address = i % 10 === 0 ? `no-address-${i}` : `person${i}@example.com`;
    assert.deepEqual(cells.slice(0, 2), [String(i), address]);
    assert.equal(cellOf(cells, "valid"), String(i % 10 !== 0), line);
    assert.equal(cellOf(cells, "reason"), i % 10 !== 0 ? "" : "no_at", line);
    if (i % 10 !== 0) assert.equal(cellOf(cells, "mx"), mx, line);
    assert.equal(cellOf(cells, "error"), "");
  });
}

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
