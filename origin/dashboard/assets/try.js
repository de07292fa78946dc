/** Try it without loading the page: sends the form, shows its response in place. */

import { enhance, sendInPlace } from "./page.js";

document.getElementById("emails")?.addEventListener("input", showCount);
document.addEventListener("submit", (event) => {
  const sent = event.target;
  if (sent instanceof HTMLFormElement && sent.getAttribute("action") === "/dashboard/try") {
    event.preventDefault();
    void send(sent, event.submitter);
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
  const page = await sendInPlace(sent, submitter, "/dashboard/try", ["results", "cost"]);
  const [emails, here] = [page?.getElementById("emails"), document.getElementById("emails")];
  if (emails instanceof HTMLTextAreaElement && here instanceof HTMLTextAreaElement) {
    here.value = emails.value;
  }
  showCount();
  enhance();
  const next = submitter?.getAttribute("name") === "use" ? "emails" : "found";
  document.getElementById(next)?.focus(); // so that a screen reader says what is new
}
