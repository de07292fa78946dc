// Sign-up, where it is open: sign-up.mjs ENDPOINT PICTURE URL. Creates an account and a key, uses it,
// and deletes the account.

import assert from "node:assert/strict";
import { accessible, check, PASSWORD, run, text } from "../story.mjs";

/** @typedef {import("playwright-core").Page} Page */

await run(async ({ open, args: [url = ""] }) => {
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

/** @param {Page} page @param {string} password */
async function fill(page, password) {
  await page.getByLabel("Email").fill("new@shop.example");
  for (const field of await page.locator("input[type=password]").all()) {
    await field.evaluate((input) => input.removeAttribute("minlength")); // the server checks it too
    await field.fill(password);
  }
  await page.getByRole("button", { name: "Create the account" }).click();
}
