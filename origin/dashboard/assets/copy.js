/** Copies text to the clipboard. */

/**
 * Makes a button copy, and say that it did.
 * @param {HTMLButtonElement} button
 * @param {() => string} text
 */
export function copyOnClick(button, text) {
  const label = button.textContent;
  button.hidden = false;
  button.addEventListener("click", async () => {
    button.textContent = await copied(text());
    setTimeout(() => {
      button.textContent = label;
    }, 2000);
  });
}

/**
 * @param {string} text
 * @returns {Promise<string>} what the button says
 */
async function copied(text) {
  try {
    await navigator.clipboard.writeText(text); // needs HTTPS or localhost
    return "Copied";
  } catch {
    return "Select and copy by hand";
  }
}
