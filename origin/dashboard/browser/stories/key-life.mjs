// The first hour of an owner: key-life.mjs ENDPOINT PICTURE LINK. Signs in by the printed link, sets
// a password, creates a key, uses it, rotates it, uses both secrets, revokes it and is refused. Signs in with
// a second browser, and ends the session of the first one from it.

import assert from "node:assert/strict";
import { accessible, check, PASSWORD, run, setPassword, signIn, signOut, text } from "../story.mjs";

await run(async ({ open, args: [link = ""] }) => {
  const page = await open();
  const { origin } = new URL(link);
  await page.goto(link);
  await accessible(page, "the link");
  await page.getByRole("button", { name: "Continue" }).click();
  await page.getByLabel("New password").fill(PASSWORD);
  await page.getByLabel("Once more").fill(`${PASSWORD}!`);
  await page.getByRole("button", { name: "Set the password" }).click();
  assert.equal(await page.getByRole("alert").innerText(), "The two passwords differ.");
  await accessible(page);
  await setPassword(page);
  await accessible(page);

  await page.getByRole("link", { name: "API keys" }).click();
  await page.getByLabel("Name", { exact: true }).fill("shop");
  await page.getByRole("button", { name: "Create" }).click();
  const first = await text(page, "#secret");
  assert.match(first, /^ask_\w{38}$/);
  assert.match(await text(page, "#curl"), new RegExp(first));
  await accessible(page);
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  await page.getByRole("button", { name: "Copy" }).first().click();
  await page.getByRole("button", { name: "Copied" }).waitFor();
  assert.equal(await page.evaluate(() => navigator.clipboard.readText()), first);
  await page.goto(page.url());
  assert.ok(!(await page.content()).includes(first), "the secret is shown once");
  assert.equal(await check(origin, first), 200);

  // Overview, Usage and the page of the key count its first request.
  await page.getByRole("link", { name: "Overview" }).click();
  assert.match(await text(page, ".figure"), /^1 of /);
  await accessible(page);
  await page.getByRole("link", { name: "Usage", exact: true }).click();
  const pointRequestValid = /^Total\s+1\s+1\s+0\s+1\s/;
  assert.match(await text(page, "tr.total"), pointRequestValid);
  await accessible(page);
  await page.getByRole("link", { name: "API keys" }).click();
  await page.getByRole("link", { name: "shop", exact: true }).click();
  assert.equal(await page.locator(".bars rect").count(), 1);
  assert.match(await page.locator(".bars title").innerHTML(), /: 1 request, 1 point$/);
  await accessible(page);

  await page.getByLabel("The old secret remains valid").selectOption("1h");
  await page.getByRole("button", { name: "Make a new secret" }).click();
  await accessible(page);
  const second = await text(page, "#secret");
  assert.deepEqual([await check(origin, first), await check(origin, second)], [200, 200]);
  await page.getByRole("link", { name: "Revoke this key" }).click();
  await accessible(page);
  await page.getByRole("button", { name: "Revoke the key" }).click();
  await page.waitForURL("**/dashboard/keys?done=key-revoked");
  await accessible(page);
  assert.deepEqual([await check(origin, first), await check(origin, second)], [401, 401]);
  await endSessions(page, await open(), origin);
});

/** @param {import("playwright-core").Page} first @param {import("playwright-core").Page} other @param {string} origin */
async function endSessions(first, other, origin) {
  await signIn(other, origin, "demo@localhost");
  await other.getByRole("link", { name: "Settings" }).click();
  const rows = other.getByRole("row", { name: "Chrome" });
  assert.equal(await rows.count(), 2);
  await other.getByRole("button", { name: "Sign out all other browsers" }).click();
  await other.waitForURL("**/settings?done=sessions-ended");
  assert.equal(await rows.count(), 1);
  await first.reload();
  assert.match(first.url(), /\/sign-in\?to=/, "the first browser is signed out");
  await signOut(other);
  await accessible(other);
  await other.goBack();
  await other.reload();
  assert.match(other.url(), /\/sign-in/, "nothing of the session is left");
}
