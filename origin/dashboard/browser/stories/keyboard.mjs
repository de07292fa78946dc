// Creates a key with the keyboard alone: keyboard.mjs ENDPOINT PICTURE LINK.

import assert from "node:assert/strict";
import { run, text } from "../story.mjs";

/** @typedef {import("playwright-core").Page} Page */

await run(async ({ open, args: [link = ""] }) => {
  const page = await open();
  await page.goto(link);
  // The button has the focus from the page's first frame on, which is after its load.
  await page.waitForFunction(() => document.activeElement?.tagName === "BUTTON");
  await page.keyboard.press("Enter");
  await page.waitForURL("**/settings/password");
  await focus(page, "Not now");
  await page.keyboard.press("Enter");
  await page.waitForURL("**/dashboard");
  await page.keyboard.press("Tab");
  assert.equal(await focused(page), "Skip to the content", "comes first");
  await focus(page, "API keys");
  await page.keyboard.press("Enter");
  await page.waitForURL("**/dashboard/keys");
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter"); // skip to the content
  await page.keyboard.press("Tab");
  await page.keyboard.type("by keyboard");
  await page.keyboard.press("Enter");
  assert.match(await text(page, "#secret"), /^ask_/);
  assert.equal(await text(page, "#new-key"), "by keyboard is ready");
});

/** What has the focus. It must be visible. @param {Page} page */
async function focused(page) {
  const { name, outline } = await page.evaluate(() => {
    const at = document.activeElement;
    const style = at && getComputedStyle(at);
    return { name: at?.textContent ?? "", outline: style?.outlineStyle };
  });
  assert.notEqual(outline, "none", `${name} has the focus, but does not show it`);
  return name.trim();
}

/** Presses Tab until what has this name has the focus. @param {Page} page @param {string} name */
async function focus(page, name) {
  for (let presses = 0; presses < 20; presses++) {
    await page.keyboard.press("Tab");
    if ((await focused(page)) === name) {
      return;
    }
  }
  assert.fail(`20 times Tab did not reach "${name}"`);
}
