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
