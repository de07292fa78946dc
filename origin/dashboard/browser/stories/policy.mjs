// A policy from its first rule to its deletion: policy.mjs ENDPOINT PICTURE LINK [no-script].

import assert from "node:assert/strict";
import { accessible, run, text } from "../story.mjs";

/** @typedef {import("playwright-core").Page} Page */

const MARKUP = "</textarea><script>document.title = 'markup'</script><img src=x onerror=alert(1)>";

await run(async ({ open, args: [link = "", noScript] }) => {
  const page = await open({ javaScriptEnabled: noScript === undefined, reducedMotion: "reduce" });
  page.on("dialog", () => assert.fail("markup of a policy ran"));
  const { origin } = new URL(link);
  await page.goto(link);
  await page.getByRole("button", { name: "Continue" }).click();
  await page.goto(`${origin}/dashboard/policies`);
  await page.getByLabel("Name").fill("sign-up");
  await page.getByLabel("Begin with").selectOption("Permissive sign-up");
  await page.getByRole("button", { name: "Create" }).click();
  assert.match(await text(page, ".notice.good"), /^The policy is created/);
  await look(page, "a new policy");
  await rulesAreRefused(page);
  await look(page, "a flaw of the form");
  await rulesAreSaved(page);
  await documentIsRefused(page);
  await look(page, "a flaw of the document");
  await page.goto(`${origin}/dashboard/policies/sign-up`);
  await decides(page, noScript === undefined);
  await secondTabLoses(page, `${origin}/dashboard/policies/sign-up`);
  await look(page, "a conflict");
  await keyUsesIt(page, origin);
  await look(page, "a policy in use");
  await deleteIt(page, origin);
});

/** axe needs scripts. @param {Page} page @param {string} where */
async function look(page, where) {
  if (process.argv[5] === "no-script") return;
  for (const colorScheme of /** @type {("dark" | "light")[]} */ (["dark", "light"])) {
    await page.emulateMedia({ colorScheme });
    await accessible(page, `${where}, ${colorScheme}`);
  }
  const size = page.viewportSize();
  await page.setViewportSize({ width: 320, height: 800 });
  const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  assert.ok(wide <= 0, `${where}: ${wide} pixels wider than a narrow screen`);
  if (size) await page.setViewportSize(size);
}

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

/** A form is tried as it is, and nothing is saved. @param {Page} page @param {boolean} scripted */
async function decides(page, scripted) {
  const rules = page.getByRole("group", { name: "Try the rules" });
  await rules.getByRole("textbox", { name: "Address" }).fill("jane@example.org");
  await rules.getByLabel("Suppose that").selectOption("neither MX nor address record");
  await rules.getByRole("textbox", { name: "Address" }).press("Enter");
  await page.locator("#rules-verdict", { hasText: "no_mail" }).waitFor();
  assert.match(
    await text(page, "#rules-verdict"),
    /^block\s+jane@example\.org\s+reason\s+no_mail\s+rule\s+block\.reasons\[1\], which is no_mail$/,
  );
  const allowed = page.getByRole("group", { name: "Allow" }).getByLabel("Domains");
  await allowed.fill("*.example.org");
  await rules.getByRole("button", { name: "Try" }).click();
  await page.locator("#rules-verdict", { hasText: "allow.domains[0]" }).waitFor();
  assert.equal(await allowed.inputValue(), "*.example.org", "what was entered remains");
  await look(page, "a verdict");
  await flawOfTheRules(page, scripted);
  const document = page.getByRole("group", { name: "Try the document" });
  await page.locator("#document").fill('{"review": {"reasons": ["no_mx"]}}');
  await document.getByRole("textbox", { name: "Address" }).fill("x@example.net");
  await document.getByLabel("Suppose that").selectOption("no MX records, but an address record");
  await document.getByRole("button", { name: "Try" }).click();
  assert.match(await text(page, "#document-verdict .tag"), /^review$/);
  assert.equal(await page.locator("#document").inputValue(), '{"review": {"reasons": ["no_mx"]}}');
  await page.goto(new URL("/dashboard/policies/sign-up", page.url()).href);
  assert.doesNotMatch(await page.locator("#document").inputValue(), /"no_mx"/, "as it is saved");
}

/** What is wrong is beside its line, until it is right. @param {Page} page @param {boolean} scripted */
async function flawOfTheRules(page, scripted) {
  const rules = page.getByRole("group", { name: "Try the rules" });
  const review = page.getByRole("group", { name: "Review" }).getByLabel("Domains");
  await review.fill(`ok.example\n${MARKUP}`);
  await rules.getByRole("button", { name: "Try" }).click();
  await page.locator("#review-domains-flaw mark").waitFor();
  assert.match(await text(page, "#rules-verdict"), /^review\.domains\[0*1\]: /);
  assert.match(await text(page, "#review-domains-flaw mark"), /^2 +<\/textarea><script>/);
  assert.equal(await review.getAttribute("aria-invalid"), "true");
  if (scripted) {
    assert.ok(
      await review.evaluate((field) => field === document.activeElement),
      "it has the focus",
    );
  }
  await look(page, "a flaw of a form that is tried");
  await review.fill("ok.example");
  await rules.getByRole("textbox", { name: "Address" }).fill("");
  await rules.getByRole("button", { name: "Try" }).click();
  await page.locator("#rules-verdict", { hasText: "Give an address to try." }).waitFor();
  assert.equal(
    await rules.getByRole("textbox", { name: "Address" }).getAttribute("aria-invalid"),
    "true",
  );
  await rules.getByRole("textbox", { name: "Address" }).fill("info@ok.example");
  await rules.getByRole("button", { name: "Try" }).click();
  await page.locator("#rules-verdict", { hasText: "review.domains[0]" }).waitFor();
  assert.equal(await page.locator("[aria-invalid]").count(), 0);
  assert.equal(await text(page, "#review-domains-flaw"), "");
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
    await tab.locator(reason === "typo" ? ".notice.good" : "#problem").waitFor();
  }
  assert.match(await text(second, "#problem"), /you began with version \d+.*Nothing was saved/);
  assert.match(await second.locator("#document").inputValue(), /"role"/);
  await page.reload();
  assert.match(await page.locator("#document").inputValue(), /"typo"/);
  await second.getByRole("button", { name: "Save the document" }).click();
  await second.locator(".notice.good").waitFor();
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
