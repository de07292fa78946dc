/** Tries the form of a policy without loading the page, so that it remains as it is. */

import { sendForm } from "./page.js";

let waiting = false;

document.addEventListener("submit", (event) => {
  const { target: form, submitter } = event;
  if (
    form instanceof HTMLFormElement
    && submitter instanceof HTMLButtonElement
    && submitter.hasAttribute("formaction")
  ) {
    event.preventDefault();
    tryForm(form, submitter);
  }
});

/**
 * Sends a form as it is, and shows what it decides, or what is wrong with it.
 * @param {HTMLFormElement} form
 * @param {HTMLButtonElement} button
 */
async function tryForm(form, button) {
  if (waiting) {
    return; // the service takes few of one account at a time
  }
  waiting = true;
  try {
    const page = await sendForm(form, button, button.formAction);
    if (page) {
      show(page, form);
    }
  } catch {
    say(form, "The server cannot be reached. Check the connection and try again.");
  } finally {
    waiting = false;
  }
}

/**
 * Takes verdict and flaws of a form from the page that responded.
 * @param {Document} page
 * @param {HTMLFormElement} form
 */
function show(page, form) {
  const verdict = form.querySelector("[role='status']");
  const fresh = page.getElementById(verdict?.id ?? "");
  if (!fresh) {
    say(form, page.getElementById("problem")?.textContent ?? "The response cannot be read.");
    return;
  }
  verdict?.replaceChildren(...fresh.childNodes);
  for (const flaw of form.querySelectorAll(".flaw")) {
    flaw.replaceChildren(...(page.getElementById(flaw.id)?.childNodes ?? []));
  }
  for (const field of form.querySelectorAll("[aria-describedby]")) {
    const name = field.getAttribute("name");
    const invalid = fresh.closest("form")?.querySelector(`[name="${name}"][aria-invalid]`);
    field.toggleAttribute("aria-invalid", false);
    if (invalid) {
      field.setAttribute("aria-invalid", "true");
    }
  }
  // The field is described by what is wrong with it.
  const invalid = form.querySelector("[aria-invalid]");
  if (invalid instanceof HTMLElement) {
    invalid.focus();
  }
}

/**
 * Shows a sentence in place of a verdict.
 * @param {HTMLFormElement} form
 * @param {string} sentence
 */
function say(form, sentence) {
  const line = document.createElement("p");
  line.className = "bad";
  line.textContent = sentence;
  form.querySelector("[role='status']")?.replaceChildren(line);
}
