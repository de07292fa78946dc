// A policy from its first rule to its deletion: policy.mjs ENDPOINT PICTURE LINK [no-script].

import assert from "node:assert/strict";
import { accessible, run, text } from "../story.mjs";

/** @typedef {import("playwright-core").Page} Page */

const MARKUP = "</textarea><script>document.title = 'markup'</script><img src=x onerror=alert(1)>";

await run(async ({ open, args: [link = "", noScript] }) => {
  const page = await open({ javaScriptEnabled: noScript === undefined });
  page.on("dialog", () => assert.fail("markup of a policy ran"));
  /** @param {string} where */
  const look = async (where) => {
    if (noScript === undefined) await accessible(page, where);
  };
  const { origin } = new URL(link);
  await page.goto(link);
  await page.getByRole("button", { name: "Continue" }).click();
  await page.goto(`${origin}/dashboard/policies`);
  await page.getByLabel("Name").fill("sign-up");
  await page.getByLabel("Begin with").selectOption("Permissive sign-up");
  await page.getByRole("button", { name: "Create" }).click();
  assert.match(await text(page, ".notice.good"), /^The policy is created/);
  await look("a new policy");
  await rulesAreRefused(page);
  await look("a flaw of the form");
  await rulesAreSaved(page);
  await documentIsRefused(page);
  await look("a flaw of the document");
  await page.goto(`${origin}/dashboard/policies/sign-up`);
  await decides(page);
  await look("a verdict");
  await secondTabLoses(page, `${origin}/dashboard/policies/sign-up`);
  await look("a conflict");
  await keyUsesIt(page, origin);
  await look("a policy in use");
  await deleteIt(page, origin);
});

/** @param {Page} page */
async function rulesAreRefused(page) {
  const review = page.getByRole("group", { name: "Review" });
  await review.getByLabel("role a role, such as info").check();
  await review.getByLabel("Domains").fill(`ok.example\n${MARKUP}`);
  await page.getByRole("button", { name: "Save the rules" }).click();
  assert.match(await text(page, "#review-domains-flaw p"), /^Line 2: review\.domains\[0*1\]: /);
  assert.match(await text(page, "#review-domains-flaw mark"), /^2 +<\/textarea><script>/);
  assert.equal(await review.getByLabel("Domains").inputValue(), `ok.example\n${MARKUP}`);
  assert.ok(await review.getByLabel("role a role, such as info").isChecked());
}

/** @param {Page} page */
async function rulesAreSaved(page) {
  await page.getByRole("group", { name: "Review" }).getByLabel("Domains").fill("ok.example");
  await page.getByRole("button", { name: "Save the rules" }).click();
  assert.match(await text(page, ".notice.good"), /^The policy is saved/);
  const document = JSON.parse(await page.locator("#document").inputValue());
  assert.deepEqual(document.review, {
    domains: ["ok.example"],
    reasons: ["typo", "unknown_tld", "gibberish>=0.9", "role"],
  });
}

/** @param {Page} page */
async function documentIsRefused(page) {
  for (const [given, line, where] of [
    [MARKUP, /^1 +<\/textarea>/, /^line 1, column 1: /],
    ['{\n  "block": {\n    "reasons": ["disposible"]\n}}', /^3 +"reasons"/, /^Line 3: block/],
  ]) {
    await page.locator("#document").fill(String(given));
    await page.getByRole("button", { name: "Save the document" }).click();
    assert.match(await text(page, "#document-flaw mark"), /** @type {RegExp} */ (line));
    assert.match(await text(page, "#document-flaw p"), /** @type {RegExp} */ (where));
    assert.equal(await page.locator("#document").inputValue(), given);
    assert.match(await page.title(), /^Policy sign-up/);
  }
}

/** @param {Page} page */
async function decides(page) {
  await page.getByRole("textbox", { name: "Address" }).fill("jane@example.org");
  await page.getByLabel("Suppose that").selectOption("neither MX nor address record");
  await page.getByRole("button", { name: "Test" }).click();
  assert.match(
    await text(page, "#verdict"),
    /^block\s+jane@example\.org\s+reason\s+no_mail\s+rule/,
  );
  assert.match(await text(page, "#verdict"), /block\.reasons\[1\], which is no_mail$/);
}

/** The second of two tabs sees what it entered, and replaces the first one's change only then. @param {Page} page @param {string} at */
async function secondTabLoses(page, at) {
  const second = await page.context().newPage();
  await second.goto(at);
  await page.goto(at);
  for (const [tab, reason] of /** @type {[Page, string][]} */ ([
    [page, "typo"],
    [second, "role"],
  ])) {
    await tab.locator("#document").fill(`{"block": {"reasons": ["${reason}"]}}`);
    await tab.getByRole("button", { name: "Save the document" }).click();
    await tab.getByRole(reason === "typo" ? "status" : "alert").waitFor();
  }
  assert.match(await text(second, "#problem"), /you began with version \d+.*Nothing was saved/);
  assert.match(await second.locator("#document").inputValue(), /"role"/);
  await page.reload();
  assert.match(await page.locator("#document").inputValue(), /"typo"/);
  await second.getByRole("button", { name: "Save the document" }).click();
  await second.getByRole("status").waitFor();
  await page.reload();
  assert.match(await page.locator("#document").inputValue(), /"role"/);
}

/** @param {Page} page @param {string} origin */
async function keyUsesIt(page, origin) {
  await page.goto(`${origin}/dashboard/keys`);
  await page.getByLabel("Name", { exact: true }).fill("<b>shop</b>");
  await page.getByText("Limits and policy of this key").click();
  await page.getByRole("combobox", { name: "Policy" }).selectOption("sign-up");
  await page.getByRole("button", { name: "Create" }).click();
  const secret = await text(page, "#secret");
  const response = await fetch(`${origin}/v1/email/info@example.com`, {
    headers: { "X-API-Key": secret },
  });
  const { verdict } = /** @type {{ verdict: object }} */ (await response.json());
  assert.deepEqual(verdict, { action: "block", reason: "role", rule: "block.reasons[0]" });
  await page.goto(`${origin}/dashboard/policies/sign-up/delete`);
  assert.match(await text(page, "main"), /It is the default of <b>shop<\/b>\./);
  assert.equal(await page.getByRole("button", { name: "Delete the policy" }).count(), 0);
}

/** @param {Page} page @param {string} origin */
async function deleteIt(page, origin) {
  await page.getByRole("link", { name: "<b>shop</b>" }).click();
  await page.getByRole("combobox", { name: "Policy" }).selectOption("none");
  await page.getByRole("button", { name: "Save" }).click();
  await page.goto(`${origin}/dashboard/policies/sign-up`);
  await page.getByRole("link", { name: "Delete this policy" }).click();
  await page.getByRole("button", { name: "Delete the policy" }).click();
  assert.equal(await text(page, ".notice.good"), "The policy is deleted.");
}
