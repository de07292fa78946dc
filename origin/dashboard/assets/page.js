/** What every page does better with JavaScript: copy buttons. */

enhance(document);

/**
 * Shows the copy buttons of a part of the page and makes them work.
 * @param {ParentNode} part
 */
export function enhance(part) {
  for (const button of part.querySelectorAll("button[data-copy][hidden]")) {
    if (button instanceof HTMLButtonElement) {
      button.hidden = false;
      button.addEventListener("click", () => copy(button));
    }
  }
}

/**
 * Copies the text of the element that the button names.
 * @param {HTMLButtonElement} button
 */
async function copy(button) {
  const source = document.getElementById(button.dataset.copy ?? "");
  const label = button.textContent;
  try {
    await navigator.clipboard.writeText(source?.textContent ?? "");
    button.textContent = "Copied";
  } catch {
    button.textContent = "Select and copy by hand";
  }
  setTimeout(() => {
    button.textContent = label;
  }, 2000);
}
