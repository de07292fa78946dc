// An operator's work: operator.mjs ENDPOINT PICTURE LINK. Reads the overview, adds a plan and an account, makes the link
// with which its owner signs in, suspends and resumes it.

import assert from "node:assert/strict";
import { accessible, run, text } from "../story.mjs";

/** @typedef {import("playwright-core").Page} Page */

await run(async ({ open, args: [link = ""] }) => {
  const page = await open();
  await page.goto(link);
  await page.getByRole("button", { name: "Continue" }).click();
  await page.getByRole("link", { name: "Operator", exact: true }).click();
  assert.match(await text(page, "main"), /All accounts[^]*Points by day[^]*No account has used points/);
  await accessible(page);
  await addPlan(page);
  await page.getByRole("link", { name: "Health" }).click();
  await accessible(page);
  await page.getByRole("link", { name: "Accounts" }).click();
  await page.getByLabel("Email of the owner").fill("owner@shop.example");
  await page.getByLabel("Plan").selectOption("team");
  await page.getByRole("button", { name: "Create" }).click();
  await accessible(page);
  await page.getByRole("button", { name: "Make a one-time link" }).click();
  await accessible(page);
  await ownerSignsIn(await open(), await text(page, "#secret"));
  await suspend(page);
  await menu(page);
});

/** On a phone the navigation is behind a button, also for the keyboard. @param {Page} page */
async function menu(page) {
  await page.setViewportSize({ width: 390, height: 844 });
  await page.getByRole("button", { name: "Menu" }).focus();
  await page.keyboard.press("Enter");
  await accessible(page);
  await page.keyboard.press("Tab");
  assert.equal(await page.evaluate(() => document.activeElement?.textContent), "Overview");
  await page.keyboard.press("Escape");
  assert.ok(await page.locator("header nav").isHidden());
  assert.equal(await page.evaluate(() => document.activeElement?.textContent), "Menu");
}

/** @param {Page} page */
async function addPlan(page) {
  await page.getByRole("link", { name: "Plans" }).click();
  await page.getByLabel("Name").fill("team");
  await page.getByLabel("Requests a second").fill("20");
  await page.getByLabel("Points a month").fill("unlimited");
  await page.getByRole("button", { name: "Save" }).click();
  await page.waitForURL("**/plans?done=plan-stored");
  await accessible(page);
}

/** @param {Page} page @param {string} link */
async function ownerSignsIn(page, link) {
  await page.goto(link);
  assert.match(await text(page, "main"), /owner@shop\.example/);
  await page.getByRole("button", { name: "Continue" }).click();
  await page.getByRole("link", { name: "Not now" }).click();
  assert.equal(await page.getByRole("link", { name: "Operator", exact: true }).count(), 0);
}

/** @param {Page} page */
async function suspend(page) {
  await page.getByRole("button", { name: "Suspend" }).click();
  await page.waitForURL("**?done=account-suspended");
  assert.match(await text(page, ".facts"), /suspended/);
  await page.getByRole("button", { name: "Resume" }).click();
  await page.waitForURL("**?done=account-resumed");
  await accessible(page);
}
