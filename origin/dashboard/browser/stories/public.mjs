// The front door and the documentation, with and without scripts: public.mjs ENDPOINT PICTURE URL.

import assert from "node:assert/strict";
import { run } from "../story.mjs";

const WIDE = { width: 1280, height: 800 };
const LANGUAGES = ["Python", "JavaScript", "curl", "Go"];
const PHONE = { width: 360, height: 640 };

await run(async ({ open, args: [url = ""] }) => {
  const options = { baseURL: url, viewport: WIDE };
  const page = await open({ ...options, permissions: ["clipboard-read", "clipboard-write"] });
  await frontDoor(page, url);
  await page.setViewportSize(WIDE);
  await documentation(page);
  await withoutScripts(await open({ ...options, javaScriptEnabled: false }));
});

/** @typedef {import("playwright-core").Page} Page */

/** @param {Page} page @param {string} url */
async function frontDoor(page, url) {
  /** @type {string[]} */
  const requests = [];
  page.on("request", (request) => requests.push(request.url() + (request.postData() ?? "")));
  const state = () => page.getAttribute("#verdict", "data-state");
  const headline = () => page.locator("#headline").innerText();
  /** @param {string} address */
  const type = async (address) => {
    await page.fill("#address", "");
    await page.locator("#address").pressSequentially(address);
  };
  await page.goto("/");
  await page.waitForSelector("#address:enabled");
  assert.equal(await state(), "empty");
  assert.doesNotMatch(await page.locator("#live").innerText(), /Checked/, "nothing was typed");
  assert.ok(
    !requests.some((one) => one.includes(".wasm")),
    "the module was loaded before anybody typed",
  );

  await page.focus("#address");
  await page.waitForFunction(() => document.querySelector("#module")?.textContent !== "");
  for (const [address, want, words] of [
    ["jane.doe@example.org", "valid", /Valid$/],
    ["jane@mailinator.com", "doubtful", /throw-away/],
    ["xkqzvwjt@example.org", "doubtful", /random/],
    ["jane@gmial.com", "doubtful", /mistyped/],
    ["jane..doe@example.org", "invalid", /Not valid/],
  ]) {
    await type(String(address));
    assert.equal(await state(), want, String(address));
    assert.match(await headline(), /** @type {RegExp} */ (words));
  }
  await page.setViewportSize(PHONE);
  await page.fill("#address", `${"a".repeat(60)}..b@example.org`);
  assert.ok(
    await page.locator("#position mark").evaluate((mark) => {
      const { left, right, width } = mark.getBoundingClientRect();
      return width > 0 && left >= 0 && right <= innerWidth;
    }),
    "the mark is outside a phone's screen",
  );

  const elsewhere = requests.filter((one) => !one.startsWith(url));
  const leaks = requests.filter((one) => /jane|mailinator|xkqz/.test(one)); // of what was typed
  assert.deepEqual([elsewhere, leaks], [[], []]);
}

/** @param {Page} page */
async function documentation(page) {
  await page.goto("/docs/check-email");
  const group = page.locator(".examples").first();
  assert.deepEqual(await group.getByRole("tab").allInnerTexts(), LANGUAGES);
  assert.equal(await group.locator("figure:visible").count(), 1);
  await group.getByRole("tab", { name: "curl" }).focus();
  await page.keyboard.press("ArrowLeft");
  assert.equal(await group.getByRole("tab", { selected: true }).innerText(), "JavaScript");
  await page.goto("/docs/check-emails");
  const remembered = await page.getByRole("tab", { selected: true }).innerText();
  assert.equal(remembered, "JavaScript");

  const panel = page.getByRole("tabpanel");
  await panel.getByRole("button", { name: "Copy" }).click();
  await panel.getByRole("button", { name: "Copied" }).waitFor();
  const copied = await page.evaluate(() => navigator.clipboard.readText());
  assert.equal(copied, await panel.locator("code").textContent());
}

/** @param {Page} page */
async function withoutScripts(page) {
  await page.goto("/");
  assert.match(
    await page.locator("main").innerText(),
    /needs JavaScript[\s\S]*"typo_suggestion": "hotmail.com"/,
  );
  assert.ok(await page.locator("#live").isHidden());
  await page.goto("/docs/check-email");
  assert.equal(await page.locator(".examples figure:visible").count(), 4);
  assert.deepEqual(await page.locator(".examples figcaption").allInnerTexts(), LANGUAGES);
}
