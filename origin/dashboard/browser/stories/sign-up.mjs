// Sign-up, where it is open: sign-up.mjs ENDPOINT PICTURE URL. Is asked about a mistyped email while it is
// typed, creates an account and a key, and uses it.

import assert from "node:assert/strict";
import { accessible, check, PASSWORD, run, text } from "../story.mjs";

await run(async ({ open, args: [url = ""] }) => {
  const page = await open();
  await page.goto(`${url}/sign-in`);
  await page.getByRole("link", { name: "Create an account" }).click();
  const [email, hint] = [page.getByLabel("Email"), page.getByRole("status")];
  await email.pressSequentially("jane@gmial.com");
  await page.keyboard.press("Tab");
  await hint.waitFor();
  assert.match(await hint.innerText(), /Did you mean jane@gmail\.com\?/);
  await accessible(page);
  await hint.getByRole("button", { name: "Use this" }).click();
  assert.equal(await email.inputValue(), "jane@gmail.com");
  assert.ok(await hint.isHidden());
  await email.fill("");
  await email.pressSequentially("jane@hotmial.com");
  await page.keyboard.press("Tab");
  await hint.waitFor();
  for (const field of await page.locator("input[type=password]").all()) await field.fill(PASSWORD);
  await page.getByRole("button", { name: "Create the account" }).click();
  await page.waitForURL("**/dashboard"); // the suggestion was seen, so nobody asks again
  await page.getByRole("link", { name: "API keys" }).click();
  await page.getByLabel("Name", { exact: true }).fill("first");
  await page.getByRole("button", { name: "Create" }).click();
  assert.equal(await check(url, await text(page, "#secret")), 200);
});
