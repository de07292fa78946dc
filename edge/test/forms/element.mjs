// Tests <addrspec-email> in Chromium, served with a strict policy: element.mjs CHROMIUM PROJECT
// Prints how much of it loads before somebody focuses an input.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import axe from "axe-core";
import { open } from "../browser.mjs";

const [chromium, project] = process.argv.slice(2);
const CSP =
  "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; connect-src 'self'; style-src 'self'; "
  + "form-action 'self'; base-uri 'none'; require-trusted-types-for 'script'; trusted-types 'none'";
const [EMAIL, OTHER] = ["#email", "#strict input"];
/** The label around an element is a name of its input, so it is no control itself. */
const FIRST = "addrspec-email:has(#email) .addrspec-hint";
const SECOND = "#strict .addrspec-hint";

const { page, close } = await open(chromium, project, {
  headers: { "Content-Security-Policy": CSP },
});
const complaints = [];
page.on("console", (message) => complaints.push(message.text()));
const requested = [];
page.on("response", (response) => requested.push(response));
try {
  await beforeFocus();
  await firstFocus();
  await keyboard();
  await refusal();
  await otherForms();
  await table();
  await options();
  await formReset();
  await intruders();
  assert.deepEqual(complaints, []);
} finally {
  await close();
}
await withoutScripts();
await withoutWebAssembly();

function names() {
  return requested.map((response) => new URL(response.url()).pathname.split("/").at(-1));
}

async function beforeFocus() {
  await page.goto("/page.html");
  await page.waitForFunction(() => customElements.get("addrspec-email"));
  assert.deepEqual(names().sort(), ["element.js", "page.css", "page.html"]);
  const script = requested.find((response) => response.url().endsWith("/element.js"));
  const size = gzipSync(await script.body(), { level: 9 }).length;
  console.log(size);
  assert.ok(size <= 3 << 10, `${size} bytes load before the focus`);
  assert.equal(await page.locator(".addrspec-hint").count(), 0);
}

/** The module loads while somebody types, and the hint appears when both are done. */
async function firstFocus() {
  await page.keyboard.press("Tab");
  assert.equal(await focused(), "email");
  await page.keyboard.type("jane@gmial.com");
  await page.keyboard.press("Tab");
  await hint(FIRST, "Did you mean gmail.com?Use gmail.com");
  assert.deepEqual(names().slice(3).sort(), ["addrspec.wasm", "browser.js", "schema.js"]);
  assert.equal(await page.locator(FIRST).getAttribute("role"), "status");
  assert.equal(await validity(EMAIL), "");
  await inspect();
}

/** Typing and Tab lead to the button, which takes the suggestion and gives the focus back. */
async function keyboard() {
  await page.evaluate(() => {
    globalThis.heard = [];
    for (const type of ["input", "change"])
      document.addEventListener(type, ({ target }) => heard.push(`${type} ${target.value}`));
  });
  await page.fill(EMAIL, "");
  await page.keyboard.type("joe@yaho.com");
  assert.equal(await page.locator(FIRST).innerText(), "", "nobody is interrupted while typing");
  await page.keyboard.press("Tab");
  assert.equal(await focused(), "BUTTON");
  await page.keyboard.press("Enter");
  assert.equal(await page.inputValue(EMAIL), "joe@yahoo.com");
  assert.equal(await focused(), "email");
  await hint(FIRST, "");
  assert.deepEqual((await page.evaluate(() => heard)).slice(-2), [
    "input joe@yahoo.com",
    "change joe@yahoo.com",
  ]);
}

async function refusal() {
  await page.fill(EMAIL, "jane..doe@example.org");
  assert.match(await validity(EMAIL), /two dots/, "Enter would submit it");
  await page.keyboard.press("Tab");
  await hint(FIRST, "The local part has two dots in a row; remove one.");
  assert.equal(await page.getAttribute(EMAIL, "aria-invalid"), "true");
  const [help, described] = (await page.getAttribute(EMAIL, "aria-describedby")).split(" ");
  assert.equal(help, "help");
  assert.equal(await page.locator(FIRST).getAttribute("id"), described);
  assert.equal(await page.evaluate(() => document.forms[0].checkValidity()), false);
  const sign = (element) => getComputedStyle(element.firstChild, "::before").content;
  assert.equal(await page.locator(FIRST).evaluate(sign), '"! "', "colour is not alone");
  await inspect();
  // One with a certain correction is a question.
  await page.fill(EMAIL, "jane@example,org");
  await hint(FIRST, "Did you mean jane@example.org?Use jane@example.org");
  assert.match(await validity(EMAIL), /in place of a dot/);
  // The text follows the correction.
  await page.fill(EMAIL, "jane.doe@example.org");
  await hint(FIRST, "");
  assert.equal(await page.getAttribute(EMAIL, "aria-invalid"), null);
  assert.equal(await validity(EMAIL), "");
}

/** HTML's type email refuses what RFC 5321 and RFC 6531 permit. */
async function otherForms() {
  const address = "josé@example.org";
  await page.fill(EMAIL, address);
  await page.keyboard.press("Tab");
  assert.equal(await validity(EMAIL), "");
  assert.equal(await page.inputValue(EMAIL), address);
  assert.equal(await page.getAttribute(EMAIL, "inputmode"), "email");
}

/**
 * Beside an input of type email. Without a policy it refuses what people do not type into a form; an
 * empty policy accepts every valid address.
 */
async function table() {
  const rows = readFileSync(join(project, "forms.tsv"), "utf8").trimEnd().split("\n").slice(1);
  assert.equal(rows.length, 20);
  const refused = async (policy, address) => {
    await page.locator("addrspec-email:has(#email)").evaluate((element, given) => {
      element.policy = given;
    }, policy);
    await page.fill(EMAIL, address);
    return page.locator(EMAIL).evaluate((input) => input.validity.customError);
  };
  for (const row of rows) {
    const [address, code, others] = row.split("\t");
    const theirs = await page.evaluate((value) => {
      const input = Object.assign(document.createElement("input"), { type: "email", value });
      return input.validity.valid;
    }, address);
    assert.equal(theirs, others.includes("input"), address);
    assert.equal(await refused(undefined, address), code !== "", address);
  }
  assert.equal(await refused({}, '"jane doe"@localhost'), false);
  assert.equal(await refused(undefined, "jane@gmail.cmo"), true);
  await page.keyboard.press("Tab");
  await hint(FIRST, "Did you mean jane@gmail.com?Use jane@gmail.com");
  assert.match(await validity(EMAIL), /no top-level domain/);
}

/** The attributes, the properties, and the label around an element. */
async function options() {
  await page.getByLabel("Another").click();
  await page.keyboard.type("jane@gmial.com");
  await page.keyboard.press("Tab");
  await hint(SECOND, "Meinten Sie gmail.com?gmail.com nehmen");
  assert.equal(await validity(OTHER), "Meinten Sie gmail.com?");
  await inspect();
  await page.fill(OTHER, "jane@@example.org");
  await hint(SECOND, "Meinten Sie jane@example.org?jane@example.org nehmen");
  await page.fill(OTHER, "jane@mailinator.com");
  await hint(SECOND, "Nicht disposable.");
  await page.evaluate(() => {
    const element = document.querySelector("#strict");
    element.allowTypo = true;
    element.policy = { block: { domains: ["example.org"] } };
    element.messages = ({ code }) => code;
  });
  await page.fill(OTHER, "jane@example.org");
  await hint(SECOND, "policy");
  await page.fill(OTHER, "jane@gmial.com");
  await hint(SECOND, "typosuggestion");
  assert.equal(await validity(OTHER), "");
  const pairs = await page.evaluate(() => [...new FormData(document.forms[0]).keys()]);
  assert.deepEqual(pairs, ["email", "other"]);
}

async function formReset() {
  await page.fill(EMAIL, "jane..doe@example.org");
  await page.keyboard.press("Tab");
  await page.evaluate(() => document.forms[0].reset());
  await hint(FIRST, "");
  await hint(SECOND, "");
  assert.equal(await page.getAttribute(EMAIL, "aria-invalid"), null);
  assert.equal(
    await page.evaluate(() => document.querySelector("#email").validity.customError),
    false,
  );
}

/** Text is shown, never run; a hint that the page threw away comes back; shadow trees have styles. */
async function intruders() {
  await page.locator(FIRST).evaluate((element) => element.remove());
  await page.fill(EMAIL, "<img src=x onerror=alert(1)>@example.org");
  await page.keyboard.press("Tab");
  await page.locator(FIRST).getByText("<").waitFor();
  assert.equal(await page.locator("img").count(), 0);
  const display = await page.evaluate(() => {
    const root = document.body
      .appendChild(document.createElement("div"))
      .attachShadow({ mode: "open" });
    root.appendChild(document.createElement("addrspec-email"));
    return getComputedStyle(root.firstChild).display;
  });
  assert.equal(display, "block");
}

/** Without scripts the same form is sent, and checked as browsers do. */
async function withoutScripts() {
  const plain = await open(chromium, project, { javaScriptEnabled: false });
  try {
    await plain.page.goto("/page.html");
    await plain.page.getByLabel("Email").fill("jane");
    await plain.page.getByRole("button").click();
    assert.equal(new URL(plain.page.url()).search, "", "a browser refuses it");
    await plain.page.getByLabel("Email").fill("jane@example.org");
    await plain.page.getByRole("button").click();
    await plain.page.waitForURL("**/page.html?email=jane%40example.org&other=");
  } finally {
    await plain.close();
  }
}

/** A policy that forbids WebAssembly leaves an input as browsers have it, and says why. */
async function withoutWebAssembly() {
  const headers = { "Content-Security-Policy": CSP.replace(" 'wasm-unsafe-eval'", "") };
  const bare = await open(chromium, project, { headers });
  try {
    await bare.page.goto("/page.html");
    const warned = bare.page.waitForEvent("console", (message) =>
      message.text().includes("addrspec-email"),
    );
    await bare.page.fill(EMAIL, "jane@gmial.com");
    assert.match((await warned).text(), /the check cannot run: .*WebAssembly/);
    assert.equal(await bare.page.evaluate(() => document.forms[0].checkValidity()), true);
  } finally {
    await bare.close();
  }
}

function focused() {
  return page.evaluate(() => document.activeElement.id || document.activeElement.tagName);
}

/** Waits until the hint has the text; its parts have no space between them. */
async function hint(selector, text) {
  await page.waitForFunction(
    ([where, wanted]) => document.querySelector(where)?.textContent === wanted,
    [selector, text],
  );
}

function validity(selector) {
  return page.locator(selector).evaluate((input) => input.validationMessage);
}

/** Requires that axe finds nothing, in light and in dark. */
async function inspect() {
  for (const colorScheme of ["light", "dark"]) {
    await page.emulateMedia({ colorScheme });
    if (!(await page.evaluate(() => "axe" in globalThis))) await page.evaluate(axe.source);
    const { violations, passes } = await page.evaluate(() => globalThis.axe.run());
    assert.deepEqual(
      violations.map(({ id, nodes }) => [id, nodes[0].html]),
      [],
    );
    assert.ok(passes.some(({ id }) => id === "color-contrast"));
  }
}
