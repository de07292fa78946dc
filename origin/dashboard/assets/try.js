/** Try it without loading the page: sends the form, shows its response in place. */

import { enhance, sendForm } from "./page.js";

document.getElementById("emails")?.addEventListener("input", showCount);
document.addEventListener("submit", (event) => {
  const sent = event.target;
  if (sent instanceof HTMLFormElement && sent.getAttribute("action") === "/dashboard/try") {
    event.preventDefault();
    send(sent, event.submitter);
  }
});
showCount();

/** Says how many addresses the field has, and what they cost. */
function showCount() {
  const from = document.getElementById("emails");
  const to = document.getElementById("count");
  if (!(from instanceof HTMLTextAreaElement) || !to) {
    return;
  }
  const lines = from.value.split(/[\r\n]+/).map((line) => line.trim());
  const n = new Set(lines.filter((line) => line !== "")).size;
  const max = Number(to.dataset.max);
  if (n === 0) {
    to.textContent = "";
  } else if (n > max) {
    to.textContent = ` These are ${n}: remove ${n - max}, or use Lists.`;
  } else {
    to.textContent = n === 1 ? " Now: 1 point." : ` Now: ${n} points.`;
  }
}

/**
 * Sends a form of the page and puts the response in place of what is shown.
 * @param {HTMLFormElement} sent
 * @param {HTMLElement | null} submitter
 */
async function send(sent, submitter) {
  const busy = document.querySelectorAll(
    "form[action='/dashboard/try'] button, button[form='try']",
  );
  setBusy(busy, true);
  try {
    const page = await sendForm(sent, submitter, "/dashboard/try");
    if (!page) {
      return;
    }
    show(page);
    const next = submitter?.getAttribute("name") === "use" ? "emails" : "found";
    document.getElementById(next)?.focus(); // so that a screen reader says what is new
  } catch {
    showProblem(
      problem(
        "The server cannot be reached. Check the connection and try again; nothing was charged unless a response was on its way.",
      ),
    );
  } finally {
    setBusy(busy, false);
  }
}

/**
 * @param {NodeListOf<Element>} buttons
 * @param {boolean} busy
 */
function setBusy(buttons, busy) {
  for (const button of buttons) {
    if (button instanceof HTMLButtonElement) {
      button.disabled = busy;
    }
  }
}

/**
 * Takes results, cost and problem from a page.
 * @param {Document} page
 */
function show(page) {
  showProblem(page.getElementById("problem"));
  for (const id of ["results", "cost"]) {
    const fresh = page.getElementById(id);
    document.getElementById(id)?.replaceChildren(...(fresh?.childNodes ?? []));
  }
  const emails = page.getElementById("emails");
  const here = document.getElementById("emails");
  if (emails instanceof HTMLTextAreaElement && here instanceof HTMLTextAreaElement) {
    here.value = emails.value;
  }
  showCount();
  enhance(document);
}

/** @param {string} sentence */
function problem(sentence) {
  const line = document.createElement("p");
  line.className = "notice bad";
  line.id = "problem";
  line.setAttribute("role", "alert");
  line.textContent = sentence;
  return line;
}

/** @param {HTMLElement | null} line */
function showProblem(line) {
  document.getElementById("problem")?.remove();
  if (line) {
    document.querySelector("main")?.prepend(line);
  }
}
