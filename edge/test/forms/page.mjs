// Fills in each form of page.tsx in Chromium: page.mjs CHROMIUM PROJECT

import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { open } from "../browser.mjs";

const [chromium, project] = process.argv.slice(2);
writeFileSync(
  join(project, "forms.html"),
  '<!doctype html><html lang="en"><title>Forms</title><body><script type="module" src="/forms/page.js"></script>',
);
const { page, close } = await open(chromium, project, {});
const complaints = [];
page.on("pageerror", (error) => complaints.push(String(error)));
try {
  await page.goto("/forms.html");
  await page.locator("form").last().waitFor();
  const forms = await page.locator("form").all();
  assert.equal(forms.length, 6);
  for (const form of forms) await fillIn(form);
  assert.deepEqual(complaints, []);
} finally {
  await close();
}

/** @param {import("playwright-core").Locator} form */
async function fillIn(form) {
  const [input, saved] = [
    form.locator("input"),
    () => page.evaluate(() => globalThis.saved.length),
  ];
  const before = await saved();
  await input.fill("jane..doe@example.org");
  await input.blur();
  await form.getByRole("button", { name: "Sign up" }).click();
  await form.getByText("two dots in a row").first().waitFor();
  assert.equal(await saved(), before, "a refused address is not saved");
  await input.fill("Jane@example.org");
  await input.blur();
  await form.getByRole("button", { name: "Sign up" }).click();
  await page.waitForFunction((count) => globalThis.saved.length > count, before);
  assert.match(await page.evaluate(() => globalThis.saved.at(-1)), /^jane@example\.org$/i);
}
