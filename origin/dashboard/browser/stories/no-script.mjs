// What needs no JavaScript: no-script.mjs ENDPOINT PICTURE LINK. The tests of the package dashboard use
// every form without scripts; here are buttons that would do nothing, and the menu of a phone.

import assert from "node:assert/strict";
import { check, enter, run, text } from "../story.mjs";

await run(async ({ open, args: [link = ""] }) => {
  const page = await open({ javaScriptEnabled: false });
  await enter(page, link);
  await page.getByRole("link", { name: "Not now" }).click();
  await page.getByRole("link", { name: "API keys" }).click();
  await page.getByLabel("Name", { exact: true }).fill("by hand");
  await page.getByText("Limits and policy of this key").click();
  await page.getByLabel("Points a month").fill("1");
  await page.getByRole("button", { name: "Create" }).click();
  const secret = await text(page, "#secret");
  assert.equal(await page.getByRole("button", { name: "Copy" }).count(), 0, "it would do nothing");
  assert.equal(await check(new URL(link).origin, secret), 200);
  await page.setViewportSize({ width: 390, height: 844 });
  const out = page.getByRole("button", { name: "Sign out" });
  assert.equal(await out.count(), 0, "the menu is closed");
  await page.getByRole("button", { name: "Menu" }).click();
  await page.getByRole("link", { name: "Signed in as no-script@example.com" }).click();
  await page.waitForURL("**/dashboard/settings");
  await page.getByRole("button", { name: "Menu" }).click();
  await page.locator("header").getByRole("button", { name: "Sign out" }).click();
  await page.waitForURL("**/sign-in?done=signed-out");
});
