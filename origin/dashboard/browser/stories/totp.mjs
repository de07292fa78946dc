// A second factor: totp.mjs ENDPOINT PICTURE LINK. Sets a password and an authenticator app, signs in
// with its code, is refused with the same code again, and signs in with a recovery code.

import assert from "node:assert/strict";
import { accessible, run, setPassword, signIn, signOut, text } from "../story.mjs";
import { totp } from "../totp.mjs";

/** @typedef {import("playwright-core").Page} Page */

const EMAIL = "totp@example.com";
const STEP = 30_000;

await run(async ({ open, args: [link = ""] }) => {
  const page = await open();
  const { origin } = new URL(link);
  await page.goto(link);
  await page.getByRole("button", { name: "Continue" }).click();
  await setPassword(page);
  const { secret, recovery, code } = await setUp(page);
  await signOut(page);
  await signIn(page, origin, EMAIL);
  await page.waitForURL("**/sign-in/code**");
  await accessible(page);
  await give(page, code);
  assert.ok(await text(page, "#problem"), "a code is valid once");
  await accessible(page);
  await give(page, totp(secret, Date.now() + STEP)); // the next one: a clock may be ahead
  await page.waitForURL("**/dashboard");
  await signOut(page);
  await signIn(page, origin, EMAIL);
  await give(page, recovery);
  await page.waitForURL("**/dashboard");
  await page.getByRole("link", { name: "Settings" }).click();
  assert.match(await text(page, "main"), /9 of 10 recovery codes left/);
});

/** @param {Page} page */
async function setUp(page) {
  await page.getByRole("link", { name: "Settings" }).click();
  await accessible(page);
  await page.getByRole("link", { name: "Set up an app" }).click();
  await accessible(page);
  const secret = await text(page, "main li code");
  const code = totp(secret, Date.now());
  await page.getByLabel("Give the code").fill(code === "000000" ? "000001" : "000000");
  await page.getByRole("button", { name: "Finish" }).click();
  assert.ok(await text(page, "#problem"), "a wrong code");
  assert.equal(await text(page, "main li code"), secret, "the app keeps its secret");
  await page.getByLabel("Give the code").fill(code);
  await page.getByRole("button", { name: "Finish" }).click();
  const [recovery = ""] = (await text(page, "#codes")).split("\n");
  await accessible(page);
  await page.getByRole("link", { name: "I have kept them" }).click();
  return { secret, recovery, code };
}

/** @param {Page} page @param {string} code */
async function give(page, code) {
  await page.getByLabel("Code of your authenticator app").fill(code);
  await page.getByRole("button", { name: "Continue" }).click();
}
