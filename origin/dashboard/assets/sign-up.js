/**
 * Asks "did you mean" while somebody signs up. The server asks about an email only if this did not:
 * if scripts are off, or the module, which is loaded once somebody types, is not there yet.
 */

import { load } from "./addrspec.js";

const form = /** @type {HTMLFormElement} */ (document.getElementById("sign-up"));
const hint = /** @type {HTMLElement} */ (document.getElementById("suggestion"));
const suggested = /** @type {HTMLElement} */ (hint.querySelector("bdi"));
const email = /** @type {HTMLInputElement} */ (form.elements.namedItem("email"));
const seen = /** @type {HTMLInputElement} */ (form.elements.namedItem("as_typed"));
/** @type {ReturnType<typeof load> | undefined} */
let loading;

email.addEventListener("input", () => {
  hint.hidden = true;
  engine().catch(() => {}); // the server asks then
});
email.addEventListener("change", () => ask().catch(() => {}));
hint.querySelector("button")?.addEventListener("click", () => {
  hint.hidden = true;
  email.value = suggested.textContent ?? "";
  email.focus();
});

function engine() {
  loading ??= load(new URL(form.dataset.module ?? "", location.href).href);
  return loading;
}

async function ask() {
  const checker = await engine();
  const typed = email.value.trim();
  const { typo_suggestion } = checker.check(typed, { typoSuggestion: "address" });
  const meant = typo_suggestion ?? checker.explain(typed).refusal?.suggestion;
  if (!meant) return;
  suggested.textContent = meant;
  seen.value = typed;
  hint.hidden = false;
}
