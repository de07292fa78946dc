// Tests the demo page in Chromium, opened from disk:
//
//   node test/demo.mjs CHROMIUM PAGE            tests it
//   node test/demo.mjs CHROMIUM PAGE DIRECTORY     also takes light.png and dark.png for the README

import assert from "node:assert/strict";
import { dirname, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { open } from "./browser.mjs";

const [chromium, file, pictures] = process.argv.slice(2);
const { page, close } = await open(chromium, dirname(resolve(file)), {
  viewport: { width: 760, height: 560 },
});
const text = (selector) => page.locator(selector).innerText();
const state = () => page.getAttribute("#verdict", "data-state");

async function typeAddress(address) {
  await page.fill("#address", "");
  await page.locator("#address").pressSequentially(address);
}

try {
  const requested = [];
  page.on("request", (request) => requested.push(request.url().slice(0, 40)));
  await page.goto(pathToFileURL(resolve(file)).href);
  await page.waitForSelector("#address:enabled", { timeout: 30_000 });
  await page.waitForFunction(() => document.querySelector("#module").textContent !== "");
  assert.equal(await state(), "empty");
  assert.doesNotMatch(await text("body"), /Checked/, "nothing was typed");

  await typeAddress("jane.doe@example.org");
  assert.equal(await state(), "valid");
  assert.equal(await page.locator("dt").count(), 14);
  assert.ok(await page.locator("#suggestion").isHidden());

  // The reason and the position of a refusal, on each key.
  await typeAddress("jane..");
  assert.equal(await state(), "invalid");
  await typeAddress("josé..doe@example.org");
  assert.match(await text("#reason"), /two dots/);
  assert.match(await text("#section"), /RFC 5322/);
  assert.deepEqual(
    [await text("#position"), await text("#position mark")],
    ["josé..doe@example.org", "."],
  );
  assert.equal(
    await page.locator("#position mark").evaluate((mark) => mark.previousSibling.textContent),
    "josé.",
  );

  // An address that is valid and yet doubtful does not look like a clean one.
  await typeAddress("jane@mailinator.com");
  assert.equal(await state(), "doubtful");
  assert.match(await text("#headline"), /throw-away/);
  await typeAddress("xkqzvwjt@example.org");
  assert.equal(await state(), "doubtful");
  assert.match(await text("#headline"), /random/);

  // Nothing is left of an address that was deleted.
  await page.fill("#address", "");
  assert.equal(await state(), "empty");
  assert.doesNotMatch(await text("body"), /Checked|random/);

  // Characters that cannot be seen are named, and cannot turn the text around.
  await page.fill("#address", "jane\u202edoe@example.org");
  assert.equal(await text("#position mark"), "U+202E");

  // The input is shown, never run.
  await page.fill("#address", '<img src=x onerror="document.title=1">@example.org');
  assert.equal(await page.locator("#position img").count(), 0);
  assert.notEqual(await page.title(), "1");

  // The suggestion of a typo, and its button.
  await typeAddress("jane.doe+news@gmial.com");
  assert.equal(await state(), "doubtful");
  assert.match(await text("#suggestion"), /gmail\.com/);
  await page.click("#suggestion");
  assert.equal(await page.inputValue("#address"), "jane.doe+news@gmail.com");
  assert.equal(await state(), "valid");

  // Every example is checked; the page fits a phone; it sends no request.
  for (const example of await page.locator("#examples button").all()) {
    await example.click();
    assert.notEqual(await state(), "empty");
  }
  await page.setViewportSize({ width: 360, height: 640 });
  assert.ok(
    await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth),
    "scrolls sideways",
  );
  for (const length of [20, 40, 60, 200]) {
    await page.fill("#address", `${"a".repeat(length)}..b@example.org`);
    assert.ok(await markIsVisible(), `the mark is outside the page after ${length} characters`);
  }
  assert.deepEqual(
    requested.filter((url) => !/^(data|file|blob):/.test(url)),
    [],
  );

  if (pictures) await takePictures();
  console.log(await text(".live-figures"));
} finally {
  await close();
}

function markIsVisible() {
  return page.locator("#position mark").evaluate((mark) => {
    const [inner, outer] = [mark, mark.closest("#verdict")].map((e) => e.getBoundingClientRect());
    return (
      inner.width > 0
      && inner.left >= outer.left
      && inner.right <= Math.min(outer.right, innerWidth)
    );
  });
}

async function takePictures() {
  await page.setViewportSize({ width: 760, height: 560 });
  for (const [scheme, address] of [
    ["light", "jane.doe+news@gmial.com"],
    ["dark", "jane..doe@example.org"],
  ]) {
    await page.emulateMedia({ colorScheme: scheme });
    await typeAddress(address);
    await page.screenshot({ path: join(pictures, `${scheme}.png`), fullPage: true });
  }
}
