// Signs in with two browsers and ends the session of one from the other: sessions.mjs ENDPOINT
// PICTURE LINK.

import assert from "node:assert/strict";
import { accessible, run, setPassword, signIn, signOut } from "../story.mjs";

/** @typedef {import("playwright-core").Page} Page */

await run(async ({ open, args: [link = ""] }) => {
  const [first, second] = [await open(), await open()];
  await first.goto(link);
  await first.getByRole("button", { name: "Continue" }).click();
  await setPassword(first);
  await signIn(second, new URL(link).origin, "sessions@example.com");
  await second.getByRole("link", { name: "Settings" }).click();
  await endTheOther(second);
  await first.reload();
  assert.match(first.url(), /\/sign-in\?to=/, "the other browser is signed out");
  await signOut(second);
  await nothingIsLeft(second);
});

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
async function nothingIsLeft(page) {
  await accessible(page);
  await page.goBack();
  await page.reload();
  assert.match(page.url(), /\/sign-in/, "nothing of the session is left");
}
