// Finds a way through the documentation: the search box, the contents of a page, sections that have
// moved, and no page that is too long: documentation.mjs ENDPOINT PICTURE URL.

import assert from "node:assert/strict";
import { accessible, run } from "../story.mjs";

/** @typedef {import("playwright-core").Page} Page */

const WIDE = { width: 1280, height: 800 };
const TABLET = { width: 768, height: 800 };
const PHONE = { width: 360, height: 640 };
const LONGEST = 8000; // pixels of a page at the width of WIDE; split longer ones

await run(async ({ open, args: [url = ""] }) => {
  const options = { baseURL: url, viewport: WIDE };
  const page = await open({ ...options, reducedMotion: "reduce" });
  await searches(page);
  await searchFails(await open(options));
  await looksOfTheSearch(await open({ ...options, colorScheme: "dark" }));
  await contentsBeside(page);
  for (const viewport of [TABLET, PHONE]) await contentsOnTop(page, viewport);
  await movedSections(page);
  const plain = await open({ ...options, javaScriptEnabled: false });
  await withoutScripts(plain);
  for (const one of [page, plain]) await sizes(one);
});

/** The results of the search box. @param {Page} page */
function results(page) {
  return page.locator(".found a");
}

/** What has the focus. @param {Page} page */
function focused(page) {
  return page.evaluate(() => document.activeElement?.textContent ?? "");
}

/** @param {Page} page */
async function searches(page) {
  /** @type {string[]} */
  const loaded = [];
  page.on("request", (request) => loaded.push(new URL(request.url()).pathname));
  await page.goto("/docs/plans");
  await page.waitForFunction(() => document.querySelector("details[data-followed]"));
  assert.ok(!loaded.some((path) => path.endsWith("search.json")), "loaded before it was used");

  await page.keyboard.press("/");
  const input = page.getByRole("searchbox", { name: "Search the documentation" });
  assert.ok(await input.evaluate((one) => one === document.activeElement));
  await page.keyboard.type("typo_sugg");
  await results(page).first().waitFor();
  assert.equal(loaded.filter((path) => path.endsWith("search.json")).length, 1);
  assert.match(await page.getByRole("status").innerText(), /^\d+ results$/);
  assert.match(
    await results(page).first().innerText(),
    /^typo_suggestion The result, Result\n.*meant/,
  );
  assert.deepEqual(
    await results(page).first().locator("mark").allInnerTexts(),
    ["typo_sugg"],
    "marks what matches",
  );
  await accessible(page, "results");

  await page.keyboard.press("ArrowDown");
  assert.match(await focused(page), /^typo_suggestion The result/);
  await page.keyboard.press("ArrowDown");
  assert.match(await focused(page), /^typo_suggestion is not null/);
  await page.keyboard.press("ArrowUp");
  await page.keyboard.press("ArrowUp");
  assert.ok(await input.evaluate((one) => one === document.activeElement));
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Escape");
  assert.equal(await results(page).count(), 0);
  assert.equal(await input.inputValue(), "typo_sugg", "Escape only closes the results");
  assert.ok(await input.evaluate((one) => one === document.activeElement));
  await page.keyboard.press("Enter");
  await page.waitForURL("**/docs/result#result.typo_suggestion");
  assert.match(await page.locator(":target").innerText(), /^typo_suggestion/);

  await page.keyboard.press("/");
  await page.keyboard.type("<img src=x onerror=alert(1)>");
  await page.getByRole("status").getByText("Nothing found.").waitFor();
  await input.fill("invalid_req");
  await results(page).first().click();
  await page.waitForURL("**/docs/errors#invalid-request");

  await input.fill("idempotency");
  await results(page).first().waitFor();
  await page.getByRole("heading", { level: 1 }).click();
  assert.equal(await results(page).count(), 0, "a click elsewhere closes the results");
  await page.goto("/docs/start");
  await page.keyboard.press("Control+/");
  assert.ok(!(await input.evaluate((one) => one === document.activeElement)));
}

/** Without the index Enter leads to all headings. @param {Page} page */
async function searchFails(page) {
  await page.goto("/docs/start");
  await page.route("**/search.json", (route) => route.abort());
  await page.getByRole("searchbox").fill("typo");
  await page.getByRole("status").getByText("could not be loaded").waitFor();
  await page.getByRole("searchbox").press("Enter");
  await page.waitForURL("**/docs/all?");
  await page.unroute("**/search.json");
  await page.getByRole("searchbox").fill("typo");
  await results(page).first().waitFor();
}

/** @param {Page} page */
async function looksOfTheSearch(page) {
  for (const viewport of [WIDE, TABLET, PHONE]) {
    await page.setViewportSize(viewport);
    await page.goto("/docs/check-email");
    await page.getByRole("searchbox").fill("invalid");
    await results(page).nth(5).waitFor();
    await page.keyboard.press("ArrowDown");
    await accessible(page, `dark results, ${viewport.width} pixels wide`);
    const { left, right } = await page
      .locator(".found")
      .evaluate((found) => found.getBoundingClientRect());
    assert.ok(left >= 0 && right <= viewport.width, `results at ${left} to ${right}`);
    assert.ok(await inFront(page, ".found a:focus"));
  }
}

/** Whether nothing covers the middle of an element. @param {Page} page @param {string} selector */
async function inFront(page, selector) {
  return page.locator(selector).evaluate((element) => {
    const { x, y, width, height } = element.getBoundingClientRect();
    return element.contains(document.elementFromPoint(x + Math.min(width / 2, 20), y + height / 2));
  });
}

/** Waits until the contents mark a section. @param {Page} page @param {string} title */
async function marked(page, title) {
  const current = page.locator(".contents [aria-current=location]", { hasText: title });
  await current.waitFor({ state: "attached" });
  assert.equal(await page.locator(".contents [aria-current]").count(), 1);
}

/** @param {Page} page */
async function contentsBeside(page) {
  await page.setViewportSize(WIDE);
  await page.goto("/docs/errors");
  const nav = page.getByRole("navigation", { name: "On this page" });
  for (const title of ["Which errors to retry", "MISSING_EMAIL", "DNS_FAILURE"]) {
    await nav.getByRole("link", { name: title }).click();
    await marked(page, title);
    assert.ok(await inFront(page, ":target"), `the contents hide ${title}`);
    assert.ok(await inFront(page, ".contents [aria-current]"), `${title} is out of sight`);
  }
  await page.evaluate(() => document.getElementById("empty-batch")?.scrollIntoView());
  await marked(page, "EMPTY_BATCH");
  const { top, bottom } = await nav.evaluate((one) => one.getBoundingClientRect());
  assert.ok(top >= 0 && bottom <= WIDE.height, `contents from ${top} to ${bottom}`);
  await page.evaluate(() => scrollTo(0, 0));
  await page.locator(".contents [aria-current]").waitFor({ state: "detached" });
}

/** @param {Page} page @param {typeof WIDE} viewport */
async function contentsOnTop(page, viewport) {
  await page.setViewportSize(viewport);
  await page.goto("/docs/errors#not-found");
  await marked(page, "NOT_FOUND");
  const summary = page.locator(".contents summary");
  const nav = page.getByRole("navigation", { name: "On this page" });
  assert.ok(await nav.isHidden());
  assert.ok(await inFront(page, ":target"), "the contents hide the heading");
  const { y } = await summary.evaluate((one) => one.getBoundingClientRect());
  assert.ok(y >= 0 && y < 10, `the contents are at ${y}`);

  const before = await page.evaluate(() => scrollY);
  await summary.focus();
  await page.keyboard.press("Enter");
  await nav.waitFor();
  assert.equal(await page.evaluate(() => scrollY), before, "the page moved");
  assert.ok(await inFront(page, ".contents [aria-current]"), "the section is out of sight");
  await accessible(page, `contents, ${viewport.width} pixels wide`);
  await page.keyboard.press("Tab");
  await page.keyboard.press("Escape");
  assert.ok(await nav.isHidden());
  assert.match(await focused(page), /On this page/);
  await page.keyboard.press("Enter");
  await nav.getByRole("link", { name: "EMPTY_BATCH" }).click();
  await marked(page, "EMPTY_BATCH");
  assert.ok(await nav.isHidden(), "stays open");
  assert.ok(await inFront(page, ":target"), "the contents hide the heading");
}

/** @param {Page} page */
async function movedSections(page) {
  await page.goto("/docs/result#typoevidence");
  await page.waitForURL("**/docs/details#typoevidence");
  await page.goto("/docs/result");
  await page.locator(".moved").getByRole("link", { name: "Refusal" }).click();
  await page.waitForURL("**/docs/details#refusal");
}

/** @param {Page} page */
async function withoutScripts(page) {
  for (const viewport of [WIDE, TABLET, PHONE]) {
    await page.setViewportSize(viewport);
    await page.goto("/docs/result#exchange");
    assert.ok(await page.getByRole("searchbox").isHidden());
    assert.match(await page.locator(":target").innerText(), /^Exchange$/);
    await page.locator(".contents").getByRole("link", { name: "Verdict" }).click();
    await page.waitForURL("**/docs/result#verdict");
  }
  await page.getByRole("link", { name: "All headings" }).click();
  await page.getByRole("link", { name: "INVALID_REQUEST" }).click();
  await page.waitForURL("**/docs/errors#invalid-request");
}

/** Every page is short enough to be read, and none scrolls sideways. @param {Page} page */
async function sizes(page) {
  await page.goto("/docs");
  const links = page.locator("nav.site-pages a");
  const paths = await links.evaluateAll((all) => all.map((a) => a.getAttribute("href") ?? ""));
  assert.ok(paths.length > 8);
  for (const path of ["/docs", "/docs/all", ...paths]) {
    for (const viewport of [WIDE, PHONE]) {
      await page.setViewportSize(viewport);
      await page.goto(path);
      const [height, wide] = await page
        .locator("html")
        .evaluate((html) => [html.scrollHeight, html.scrollWidth - innerWidth]);
      assert.ok(wide <= 0, `${path} is ${wide} pixels wider than a screen of ${viewport.width}`);
      if (viewport === WIDE) console.log(`${height} pixels: ${path}`);
      assert.ok(viewport === PHONE || height <= LONGEST, `${path} is ${height} pixels high`);
    }
  }
}
