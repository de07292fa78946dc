// Everything that matters works without JavaScript: no-script.mjs ENDPOINT PICTURE LINK.

import assert from "node:assert/strict";
import { check, run, text } from "../story.mjs";

await run(async ({ open, args: [link = ""] }) => {
  const page = await open({ javaScriptEnabled: false });
  const { origin } = new URL(link);
  await page.goto(link);
  await page.getByRole("button", { name: "Continue" }).click();
  await page.getByRole("link", { name: "Not now" }).click();
  await page.getByRole("link", { name: "API keys" }).click();
  await page.getByLabel("Name", { exact: true }).fill("by hand");
  await page.getByText("Limits and policy of this key").click();
  await page.getByLabel("Points a month").fill("1");
  await page.getByRole("button", { name: "Create" }).click();
  const secret = await text(page, "#secret");
  assert.equal(await page.getByRole("button", { name: "Copy" }).count(), 0, "it would do nothing");
  assert.equal(await check(origin, secret), 200);
  assert.equal(await check(origin, secret), 429, "its budget is used up");
  await page.getByRole("link", { name: "by hand" }).click();
  await page.getByRole("link", { name: "Revoke this key" }).click();
  await page.getByRole("button", { name: "Revoke the key" }).click();
  assert.equal(await check(origin, secret), 401);
  await page.setViewportSize({ width: 390, height: 844 });
  assert.equal(
    await page.getByRole("button", { name: "Sign out" }).count(),
    0,
    "the menu is closed",
  );
  await page.getByRole("button", { name: "Menu" }).click();
  await page.getByRole("link", { name: "Signed in as no-script@example.com" }).click();
  await page.waitForURL("**/dashboard/settings");
  await page.getByRole("button", { name: "Menu" }).click();
  await page.locator("header").getByRole("button", { name: "Sign out" }).click();
  await page.waitForURL("**/sign-in?done=signed-out");
});
