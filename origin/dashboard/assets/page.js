/** What every page does better with JavaScript: copy buttons. */

for (const button of document.querySelectorAll("button[data-copy]")) {
  if (button instanceof HTMLButtonElement) {
    button.hidden = false;
    button.addEventListener("click", () => copy(button));
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
