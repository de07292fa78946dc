// Sign-up, where it is open: sign-up.mjs ENDPOINT PICTURE URL. Is asked about a mistyped email, with and
// without scripts, creates an account and a key, and uses it.

import assert from "node:assert/strict";
import { accessible, check, PASSWORD, run, text } from "../story.mjs";

/** @typedef {import("playwright-core").Page} Page */

await run(async ({ open, args: [url = ""] }) => {
  await suggestedWithoutScripts(await open({ javaScriptEnabled: false }), url);
  await suggested(await open(), url);
  const page = await open();
  await page.goto(`${url}/sign-in`);
  await page.getByRole("link", { name: "Create an account" }).click();
  await accessible(page);
  await fill(page, "short");
  assert.ok(await text(page, "#problem"), "a short password");
  await accessible(page);
  await fill(page, PASSWORD);
  await page.waitForURL("**/dashboard**");
  await page.getByRole("link", { name: "API keys" }).click();
  await page.getByLabel("Name", { exact: true }).fill("first");
  await page.getByRole("button", { name: "Create" }).click();
  assert.equal(await check(url, await text(page, "#secret")), 200);
});

/** The page suggests while somebody types; the suggestion can be taken or left. @param {Page} page @param {string} url */
async function suggested(page, url) {
  await page.goto(`${url}/sign-up`);
  const hint = page.getByRole("status");
  await page.getByLabel("Email").pressSequentially("jane@gmial.com");
  await page.keyboard.press("Tab");
  await hint.waitFor();
  assert.match(await hint.innerText(), /Did you mean jane@gmail\.com\?/);
  await accessible(page);
  await hint.getByRole("button", { name: "Use this" }).click();
  assert.equal(await page.getByLabel("Email").inputValue(), "jane@gmail.com");
  assert.ok(await hint.isHidden());
  await page.getByLabel("Email").fill("");
  await page.getByLabel("Email").pressSequentially("jane@hotmial.com");
  await page.keyboard.press("Tab");
  await hint.waitFor();
  await fill(page, PASSWORD, "jane@hotmial.com");
  await page.waitForURL("**/dashboard"); // the suggestion was seen, so nobody asks again
}

/** Without scripts the server suggests, once. @param {Page} page @param {string} url */
async function suggestedWithoutScripts(page, url) {
  await page.goto(`${url}/sign-up`);
  await fill(page, PASSWORD, "jane@gmial.com");
  await page.getByRole("button", { name: "Use this" }).click();
  assert.equal(await page.getByLabel("Email").inputValue(), "jane@gmail.com");
  await fill(page, PASSWORD, "jane@gmial.com");
  await page.getByText("Did you mean jane@gmail.com?").waitFor();
  await fill(page, PASSWORD, "jane@gmial.com");
  await page.waitForURL("**/dashboard");
}

/** @param {Page} page @param {string} password @param {string} [email] */
async function fill(page, password, email = "new@shop.example") {
  await page.getByLabel("Email").fill(email);
  for (const field of await page.locator("input[type=password]").all()) {
    await field.evaluate((input) => input.removeAttribute("minlength")); // the server checks it too
    await field.fill(password);
  }
  await page.getByRole("button", { name: "Create the account" }).click();
}
