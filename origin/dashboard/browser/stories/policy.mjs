// A policy from its first rule to its deletion: policy.mjs ENDPOINT PICTURE LINK [no-script].

import assert from "node:assert/strict";
import { accessible, enter, run, text } from "../story.mjs";

/** @typedef {import("playwright-core").Page} Page */

const MARKUP = "</textarea><script>document.title = 'markup'</script><img src=x onerror=alert(1)>";

await run(async ({ open, args: [link = "", noScript] }) => {
  const scripted = noScript === undefined;
  const page = await open({ javaScriptEnabled: scripted, reducedMotion: "reduce" });
  page.on("dialog", () => assert.fail("markup of a policy ran"));
  const { origin } = new URL(link);
  await enter(page, link);
  await page.goto(`${origin}/dashboard/policies`);
  await page.getByLabel("Name").fill("sign-up");
  await page.getByLabel("Begin with").selectOption("Permissive sign-up");
  await page.getByRole("button", { name: "Create" }).click();
  assert.match(await text(page, ".notice.good"), /^The policy is created/);
  await look(page, "a new policy");
  if (scripted) await ticks(page);
  else assert.ok(await page.getByRole("group", { name: "Review" }).isHidden());
  await documentIsRefused(page);
  await look(page, "a flaw of the document");
  await page.goto(`${origin}/dashboard/policies/sign-up`);
  await decides(page);
  await look(page, "a verdict");
  await page.getByRole("link", { name: "Delete this policy" }).click();
  await page.getByRole("button", { name: "Delete the policy" }).click();
  assert.equal(await text(page, ".notice.good"), "The policy is deleted.");
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

/** Ticks and document are one: neither loses what the other did. @param {Page} page */
async function ticks(page) {
  const review = page.getByRole("group", { name: "Review" });
  const source = page.locator("#document");
  const save = page.getByRole("button", { name: "Save", exact: true });
  await review.getByLabel("role a role, such as info").check();
  await review.getByLabel("Domains").fill(`ok.example\n${MARKUP}`);
  await page.getByRole("textbox", { name: "Address", exact: true }).fill("info@ok.example");
  await page.getByRole("button", { name: "Try" }).click();
  await page.locator("#flaw mark", { hasText: "</textarea><script>" }).waitFor();
  assert.match(await text(page, "#verdict"), /^review\.domains\[0*1\]: /);
  assert.equal(await review.getByLabel("Domains").getAttribute("aria-invalid"), "true");
  assert.ok(await review.getByLabel("Domains").evaluate((at) => at === document.activeElement));
  await look(page, "a flaw of the ticks");
  await save.click();
  assert.match(await text(page, "#flaw p"), /review\.domains\[0*1\]: /);
  assert.equal(await review.getByLabel("Domains").inputValue(), `ok.example\n${MARKUP}`);

  await review.getByLabel("Domains").fill("ok.example");
  await page.getByText("As JSON", { exact: true }).click();
  const { block, ...others } = JSON.parse(await source.inputValue());
  await source.fill("{");
  assert.ok(await review.getByLabel("Domains").isDisabled(), "no ticks for what cannot be read");
  await source.fill(JSON.stringify({ ...others, block: { ...block, domains: ["x.example"] } }));
  const blocked = page.getByRole("group", { name: "Block" });
  assert.equal(await blocked.getByLabel("Domains").inputValue(), "x.example");
  await blocked.getByLabel("relay forwarding service that hides the mailbox").check();
  await save.click();
  assert.match(await text(page, ".notice.good"), /^The policy is saved/);
  assert.deepEqual(JSON.parse(await source.inputValue()), {
    review: {
      domains: ["ok.example"],
      reasons: ["typo", "unknown_tld", "looks_disposable", "gibberish>=0.9", "role"],
    },
    block: { domains: ["x.example"], reasons: [...block.reasons, "relay"] },
  });
  await page.getByText("As JSON", { exact: true }).click();
}

/** @param {Page} page */
async function documentIsRefused(page) {
  for (const [given, line, where] of [
    [MARKUP, /^1 +<\/textarea>/, /^line 1, column 1: /],
    ['{\n  "block": {\n    "reasons": ["disposible"]\n}}', /^3 +"reasons"/, /^Line 3: block/],
  ]) {
    await page.locator("#json").evaluate((json) => json.setAttribute("open", ""));
    await page.locator("#document").fill(String(given));
    await page.getByRole("button", { name: "Save", exact: true }).click();
    assert.match(await text(page, "#flaw mark"), /** @type {RegExp} */ (line));
    assert.match(await text(page, "#flaw p"), /** @type {RegExp} */ (where));
    assert.equal(await page.locator("#document").inputValue(), given);
    assert.match(await page.title(), /^Policy sign-up/);
  }
}

/** The form is tried as it is, and nothing is saved. @param {Page} page */
async function decides(page) {
  const address = page.getByRole("textbox", { name: "Address", exact: true });
  await page.locator("#json").evaluate((json) => json.setAttribute("open", ""));
  const before = await page.locator("#document").inputValue();
  await page.locator("#document").fill('{"review": {"reasons": ["no_mx"]}}');
  await address.press("Enter");
  await page.locator("#verdict", { hasText: "Give an address to try." }).waitFor();
  assert.equal(await address.getAttribute("aria-invalid"), "true");
  await address.fill("jane@example.org");
  await page.getByLabel("Suppose that").selectOption("no MX records, but an address record");
  await address.press("Enter");
  await page.locator("#verdict .tag").waitFor();
  assert.match(
    await text(page, "#verdict"),
    /^review\s+jane@example\.org\s+reason\s+no_mx\s+rule\s+review\.reasons\[0\], which is no_mx$/,
  );
  assert.equal(await page.locator("[aria-invalid]").count(), 0);
  assert.equal(await page.locator("#document").inputValue(), '{"review": {"reasons": ["no_mx"]}}');
  await page.goto(new URL("/dashboard/policies/sign-up", page.url()).href);
  assert.equal(await page.locator("#document").inputValue(), before, "as it is saved");
}
