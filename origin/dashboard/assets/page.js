/** What every page does better with JavaScript: copy buttons. */

import { copyOnClick } from "./copy.js";

enhance(document);

/**
 * Shows the copy buttons of a part of the page and makes them work.
 * @param {ParentNode} part
 */
export function enhance(part) {
  for (const button of part.querySelectorAll("button[data-copy][hidden]")) {
    if (button instanceof HTMLButtonElement) {
      copyOnClick(
        button,
        () => document.getElementById(button.dataset.copy ?? "")?.textContent ?? "",
      );
    }
  }
}

/**
 * Sends a form and returns the page that responds; undefined if another page is loaded instead.
 * What the form has gets into no URL and no history.
 * @param {HTMLFormElement} form
 * @param {HTMLElement | null} submitter
 * @param {string} to
 */
export async function sendForm(form, submitter, to) {
  const fields = new URLSearchParams();
  for (const [name, value] of new FormData(form, submitter)) {
    fields.append(name, String(value));
  }
  const response = await fetch(to, {
    method: "POST",
    body: fields,
    headers: { Accept: "text/html" },
  });
  if (response.redirected) {
    location.assign(response.url); // the session has ended
    return undefined;
  }
  return new DOMParser().parseFromString(await response.text(), "text/html");
}
