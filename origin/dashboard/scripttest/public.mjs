/**
 * Tests the front door and the documentation in Chromium:
 *
 *   node public.mjs CHROMIUM URL           tests them
 *   node public.mjs CHROMIUM URL FOLDER    also takes a picture of every page
 */

import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { join } from "node:path";

const require = createRequire(new URL("../../../edge/package.json", import.meta.url));
/** @type {typeof import("../../../edge/node_modules/playwright-core/index.js")} */
const { chromium } = require("playwright-core");

const [executablePath, url, pictures] = process.argv.slice(2);
assert.ok(executablePath && url, "usage: node public.mjs CHROMIUM URL [FOLDER]");

// No sandbox, because tests may run as root in containers; no background requests.
const browser = await chromium.launch({
  executablePath,
  args: ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"],
});

const WIDE = { width: 1280, height: 800 };
const PHONE = { width: 360, height: 640 };

/**
 * Opens a page that collects its errors and requests.
 * @param {import("../../../edge/node_modules/playwright-core/index.js").BrowserContextOptions} options
 */
async function open(options = {}) {
  const context = await browser.newContext({ baseURL: url, viewport: WIDE, permissions: ["clipboard-read", "clipboard-write"], ...options });
  const page = await context.newPage();
  /** @type {string[]} */
  const errors = [];
  /** @type {string[]} */
  const requests = [];
  page.on("pageerror", (error) => errors.push(String(error)));
  page.on("console", (message) => message.type() === "error" && errors.push(message.text()));
  page.on("request", (request) => requests.push(request.url() + (request.postData() ?? "")));
  return { page, errors, requests, close: () => context.close() };
}

async function frontDoor() {
  const { page, errors, requests, close } = await open();
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
  assert.ok(!requests.some((one) => one.includes(".wasm")), "the module was loaded before anybody typed");

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
  assert.ok(await page.locator("#position mark").evaluate((mark) => {
    const { left, right, width } = mark.getBoundingClientRect();
    return width > 0 && left >= 0 && right <= innerWidth;
  }), "the mark is outside a phone's screen");

  assert.deepEqual(requests.filter((one) => !one.startsWith(url)), [], "a request to somewhere else");
  assert.deepEqual(requests.filter((one) => /jane|mailinator|xkqz/.test(one)), [], "what was typed was sent");
  assert.deepEqual(errors, []);
  await close();
}

async function documentation() {
  const { page, errors, close } = await open();
  await page.goto("/docs/check-email");
  const group = page.locator(".examples").first();
  assert.deepEqual(await group.getByRole("tab").allInnerTexts(), ["curl", "Go", "Python", "JavaScript"]);
  assert.equal(await group.locator("figure:visible").count(), 1);
  await group.getByRole("tab", { name: "curl" }).focus();
  await page.keyboard.press("ArrowLeft");
  assert.equal(await group.getByRole("tab", { selected: true }).innerText(), "JavaScript");
  await page.goto("/docs/retries");
  assert.equal(await page.getByRole("tab", { selected: true }).innerText(), "JavaScript", "not remembered");

  const panel = page.getByRole("tabpanel");
  await panel.getByRole("button", { name: "Copy" }).click();
  await panel.getByRole("button", { name: "Copied" }).waitFor();
  assert.equal(await page.evaluate(() => navigator.clipboard.readText()), await panel.locator("code").textContent());
  assert.deepEqual(errors, []);
  await close();
}

async function withoutScripts() {
  const { page, close } = await open({ javaScriptEnabled: false });
  await page.goto("/");
  assert.match(await page.locator("main").innerText(), /needs JavaScript[\s\S]*"typo_suggestion": "hotmail.com"/);
  assert.ok(await page.locator("#live").isHidden());
  await page.goto("/docs/check-email");
  assert.equal(await page.locator(".examples figure:visible").count(), 4);
  assert.deepEqual(await page.locator(".examples figcaption").allInnerTexts(), ["curl", "Go", "Python", "JavaScript"]);
  await close();
}

/** @param {import("../../../edge/node_modules/playwright-core/index.js").Page} page */
async function pagesOf(page) {
  await page.goto("/docs");
  const links = await page.locator("nav.site-pages a").evaluateAll((all) => all.map((a) => a.getAttribute("href") ?? ""));
  assert.ok(links.length > 8);
  return ["/", "/sign-in", "/docs", ...links];
}

/** Every page has no error and does not scroll sideways, at both widths; in both schemes for pictures. */
async function everyPage() {
  /** @type {("light" | "dark")[]} */
  const schemes = pictures ? ["light", "dark"] : ["light"];
  for (const colorScheme of schemes) {
    for (const [name, viewport] of Object.entries({ wide: WIDE, phone: PHONE })) {
      const { page, errors, close } = await open({ colorScheme, viewport });
      for (const path of await pagesOf(page)) {
        await page.goto(path);
        const [inner, outer] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
        assert.ok(inner <= outer, `${path} is ${inner} pixels wide on a screen of ${outer}`);
        if (pictures) {
          const file = `${path.slice(1).replaceAll("/", "-") || "front"}-${name}-${colorScheme}.png`;
          await page.screenshot({ path: join(pictures, file), fullPage: true });
        }
      }
      assert.deepEqual(errors, []);
      await close();
    }
  }
}

try {
  await frontDoor();
  await documentation();
  await withoutScripts();
  await everyPage();
} finally {
  await browser.close();
}
