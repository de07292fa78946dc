// An operator's work: operator.mjs ENDPOINT PICTURE LINK. Reads the overview, adds an account and makes
// the link with which its owner signs in, also on a phone.

import assert from "node:assert/strict";
import { accessible, enter, run, text } from "../story.mjs";

await run(async ({ open, args: [link = ""] }) => {
  const page = await open();
  await enter(page, link);
  await page.getByRole("link", { name: "Operator", exact: true }).click();
  await page.getByRole("heading", { name: "Refused requests" }).waitFor(); // the last part of the overview
  await accessible(page);
  await page.getByRole("link", { name: "Accounts" }).click();
  await page.getByLabel("Email of the owner").fill("owner@shop.example");
  await page.getByRole("button", { name: "Create" }).click();
  await accessible(page);
  await page.getByRole("button", { name: "Make a one-time link" }).click();
  await accessible(page);
  const owner = await open();
  await owner.goto(await text(page, "#secret"));
  assert.match(await text(owner, "main"), /owner@shop\.example/);
  await owner.getByRole("button", { name: "Continue" }).click();
  await owner.getByRole("link", { name: "Not now" }).click();
  assert.equal(await owner.getByRole("link", { name: "Operator", exact: true }).count(), 0);

  // On a phone the navigation is behind a button, also for the keyboard.
  await page.setViewportSize({ width: 390, height: 844 });
  await page.getByRole("button", { name: "Menu" }).focus();
  await page.keyboard.press("Enter");
  await accessible(page);
  await page.keyboard.press("Tab");
  assert.equal(await page.evaluate(() => document.activeElement?.textContent), "Overview");
  await page.keyboard.press("Escape");
  assert.ok(await page.locator("header nav").isHidden());
  assert.equal(await page.evaluate(() => document.activeElement?.textContent), "Menu");
});
