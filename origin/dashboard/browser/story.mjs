// What the stories share: a story is a script that uses the dashboard in Chromium as a person does.
//
//   await run(async ({ open, args }) => { const page = await open(); … });
//
// It fails if a page logs an error, violates its Content-Security-Policy, loads a file that does not
// exist or has a violation that axe finds. Its arguments are STORY.mjs ENDPOINT PICTURE ARGS...: where
// Chromium is, and where to keep a picture of a page that fails.

import assert from "node:assert/strict";
import axe from "axe-core";
import { chromium } from "playwright-core";

/** @typedef {import("playwright-core").Page} Page */
/** @typedef {import("playwright-core").BrowserContextOptions} Options */
/** @typedef {{ open: (options?: Options) => Promise<Page>, args: string[] }} Story */

/** The password of everybody in the stories. */
export const PASSWORD = "correct horse battery";

/** The faults of all pages. @type {string[]} */
const faults = [];

/** Runs a story with the browser. @param {(story: Story) => Promise<void>} story @param {boolean} watching whether it fails for what its pages log */
export async function run(story, watching = true) {
  const [endpoint = "", picture = "", ...args] = process.argv.slice(2);
  const browser = await chromium.connect(endpoint);
  /** @type {Page[]} */
  const pages = [];
  try {
    await story({
      args,
      open: async (options = {}) => {
        const context = await browser.newContext({ locale: "en", ...options });
        context.setDefaultTimeout(120_000); // the machine may be busy
        const page = await context.newPage();
        if (watching) watch(page);
        pages.push(page);
        return page;
      },
    });
    assert.deepEqual(faults, []);
  } catch (error) {
    await pages.at(-1)?.screenshot({ path: picture, fullPage: true });
    console.error(
      `at ${pages
        .at(-1)
        ?.url()
        .replace(/\/link\/.*/, "/link/…")}:`,
      error,
    );
    process.exitCode = 1;
  }
  await browser.close();
}

/** Notes what must not happen on a page. @param {Page} page */
function watch(page) {
  page.on("pageerror", (error) => faults.push(`${page.url()}: ${error.message}`));
  page.on("console", (message) => {
    // Chromium logs the status of every response; "response" has those that matter.
    if (message.type() === "error" && !message.text().startsWith("Failed to load resource")) {
      faults.push(`${page.url()}: ${message.text()}`);
    }
  });
  page.on("response", (response) => {
    const asset = response.url().includes("/assets/");
    if (asset && response.status() >= 400) {
      faults.push(`${response.url()}: status ${response.status()}`);
    }
  });
}

/**
 * Fails if axe finds any violation on the page as it is.
 * @param {Page} page
 * @param {string} [where]
 */
export async function accessible(page, where = page.url()) {
  assert.deepEqual(await violations(page), [], where);
}

/**
 * The violations that axe finds on a page, as text.
 * @param {Page} page
 * @param {string[]} [rules] the only rules to check; by default all that axe enables
 * @returns {Promise<string[]>}
 */
export async function violations(page, rules) {
  if (!(await page.evaluate(() => "axe" in window))) {
    await page.evaluate(axe.source); // not through a script element: the page's policy forbids it
  }
  const found = await page.evaluate((values) => {
    /** @type {typeof import("axe-core")} */
    const checker = Reflect.get(window, "axe");
    return checker.run(document, {
      resultTypes: ["violations"],
      ...(values && { runOnly: { type: "rule", values } }),
    });
  }, rules);
  return found.violations.flatMap((v) =>
    v.nodes.map((node) => `${v.id}: ${node.html}: ${node.failureSummary}`),
  );
}

/**
 * Checks an address with a key at the API, and returns the status.
 * @param {string} origin
 * @param {string} secret
 */
export async function check(origin, secret) {
  const response = await fetch(`${origin}/v1/email/jane@example.com`, {
    headers: { "X-API-Key": secret },
  });
  await response.arrayBuffer();
  return response.status;
}

/** The text of an element that must exist. @param {Page} page @param {string} selector */
export async function text(page, selector) {
  return (await page.locator(selector).innerText()).trim();
}

/** Signs in by a one-time link. @param {Page} page @param {string} link */
export async function enter(page, link) {
  await page.goto(link);
  await page.getByRole("button", { name: "Continue" }).click();
}

/** Sets the password on its page, as after a one-time link. @param {Page} page */
export async function setPassword(page) {
  await page.getByLabel("New password").fill(PASSWORD);
  await page.getByLabel("Once more").fill(PASSWORD);
  await page.getByRole("button", { name: "Set the password" }).click();
  await page.waitForURL("**/dashboard?done=password-set");
}

/** Signs in with the password. @param {Page} page @param {string} origin @param {string} email */
export async function signIn(page, origin, email) {
  await page.goto(`${origin}/sign-in`);
  await page.getByLabel("Email").fill(email);
  await page.getByLabel("Password").fill(PASSWORD);
  await page.getByRole("button", { name: "Sign in", exact: true }).click();
  await page.waitForURL((url) => url.href !== `${origin}/sign-in`);
}

/** @param {Page} page */
export async function signOut(page) {
  await page.locator("header").getByRole("button", { name: "Sign out" }).click();
  await page.waitForURL("**/sign-in?done=signed-out");
}
