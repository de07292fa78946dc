// Signs in with two browsers and ends the session of one from the other: sessions.mjs ENDPOINT
// PICTURE LINK.

import assert from "node:assert/strict";
import { accessible, run } from "../story.mjs";

/** @typedef {import("playwright-core").Page} Page */

const PASSWORD = "correct horse battery";

await run(async ({ open, args: [link = ""] }) => {
  const [first, second] = [await open(), await open()];
  await first.goto(link);
  await first.getByRole("button", { name: "Continue" }).click();
  await first.getByLabel("New password").fill(PASSWORD);
  await first.getByLabel("Once more").fill(PASSWORD);
  await first.getByRole("button", { name: "Set the password" }).click();
  await first.waitForURL("**/dashboard?done=password-set");
  await signIn(second, new URL(link).origin, "sessions@example.com");
  await endTheOther(second);
  await first.reload();
  assert.match(first.url(), /\/sign-in\?to=/, "the other browser is signed out");
  await signOut(second);
});

/** @param {Page} page @param {string} origin @param {string} email */
async function signIn(page, origin, email) {
  await page.goto(`${origin}/sign-in?to=/dashboard/settings`);
  await page.getByLabel("Email").fill(email);
  await page.getByLabel("Password").fill(PASSWORD);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.waitForURL("**/dashboard/settings");
}

/** @param {Page} page */
async function endTheOther(page) {
  const rows = page.getByRole("row", { name: "Chrome" });
  assert.equal(await rows.count(), 2);
  await accessible(page);
  await page.getByRole("button", { name: "Sign out all other browsers" }).click();
  await page.waitForURL("**/settings?done=sessions-ended");
  assert.equal(await rows.count(), 1);
}

/** @param {Page} page */
async function signOut(page) {
  await page.locator("header").getByRole("button", { name: "Sign out" }).click();
  await page.waitForURL("**/sign-in?done=signed-out");
  await accessible(page);
  await page.goBack();
  await page.reload();
  assert.match(page.url(), /\/sign-in/, "nothing of the session is left");
}
