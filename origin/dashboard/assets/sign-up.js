/**
 * Asks "did you mean" while somebody signs up. The server asks about an email only if this did not:
 * if scripts are off, or the module, which is loaded once somebody types, is not there yet.
 */

import { load } from "./addrspec.js";

const form = document.getElementById("sign-up");
const hint = document.getElementById("suggestion");
const suggested = hint?.querySelector("bdi");
const email = field("email");
const seen = field("as_typed");
/** @type {ReturnType<typeof load> | undefined} */
let loading;

email?.addEventListener("input", () => {
  hide();
  engine().catch(() => {}); // the server asks then
});
email?.addEventListener("change", () => ask().catch(() => {}));
hint?.querySelector("button")?.addEventListener("click", () => {
  hide();
  if (email) {
    email.value = suggested?.textContent ?? "";
    email.focus();
  }
});

function engine() {
  loading ??= load(new URL(form?.dataset.module ?? "", location.href).href);
  return loading;
}

async function ask() {
  const checker = await engine();
  const typed = email?.value.trim() ?? "";
  const { typo_suggestion } = checker.check(typed, { typoSuggestion: "address" });
  if (typo_suggestion !== null && hint && suggested && seen) {
    suggested.textContent = typo_suggestion;
    seen.value = typed;
    hint.hidden = false;
  }
}

function hide() {
  if (hint) {
    hint.hidden = true;
  }
}

/**
 * @param {string} name
 * @returns {HTMLInputElement | undefined}
 */
function field(name) {
  const found = form instanceof HTMLFormElement && form.elements.namedItem(name);
  return found instanceof HTMLInputElement ? found : undefined;
}
