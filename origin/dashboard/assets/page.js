/** What every page does better with JavaScript: copy buttons, and the numbers of bars. */

enhance();
for (const bar of document.querySelectorAll(".bar-of-day")) {
  for (const event of ["pointerenter", "focus"]) {
    bar.addEventListener(event, () => {
      const place = bar.closest("figure, dd")?.querySelector(".bar-value");
      if (place) place.textContent = bar.querySelector("title")?.textContent ?? "";
    });
  }
}

/** Shows the copy buttons of the page and makes them work. */
export function enhance() {
  const buttons = /** @type {NodeListOf<HTMLButtonElement>} */ (
    document.querySelectorAll("button[data-copy][hidden]")
  );
  for (const button of buttons) {
    const source = document.getElementById(button.dataset.copy ?? "");
    copyOnClick(button, () => source?.textContent ?? "");
  }
}

/** Makes a button copy, and say that it did. @param {HTMLButtonElement} button @param {() => string} text */
export function copyOnClick(button, text) {
  const label = button.textContent;
  button.hidden = false;
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(text()); // needs HTTPS or localhost
      button.textContent = "Copied";
    } catch {
      button.textContent = "Select and copy by hand";
    }
    setTimeout(() => {
      button.textContent = label;
    }, 2000);
  });
}

let waiting = false;

/**
 * Sends a form, takes parts of the page that responds in place of ours, and returns that page;
 * undefined if there is none, or another page is loaded instead. What the form has gets into no URL
 * and no history.
 * @param {HTMLFormElement} form
 * @param {HTMLElement | null} submitter
 * @param {string} to
 * @param {string[]} parts
 */
export async function sendInPlace(form, submitter, to, parts) {
  if (waiting) return undefined; // the service takes few of one account at a time
  waiting = true;
  const fields = new URLSearchParams();
  for (const [name, value] of new FormData(form, submitter)) fields.append(name, String(value));
  document.getElementById("problem")?.remove();
  try {
    const response = await fetch(to, {
      ...{ method: "POST", body: fields, headers: { Accept: "text/html" } },
    });
    if (response.redirected) return location.assign(response.url); // the session has ended
    const page = new DOMParser().parseFromString(await response.text(), "text/html");
    for (const id of parts) {
      const fresh = page.getElementById(id)?.childNodes ?? [];
      document.getElementById(id)?.replaceChildren(...fresh);
    }
    const problem = page.getElementById("problem");
    if (problem) document.querySelector("main")?.prepend(problem.cloneNode(true));
    return page;
  } catch {
    const line = document.createElement("p");
    line.className = "notice bad";
    line.id = "problem";
    line.setAttribute("role", "alert");
    line.textContent =
      "The server cannot be reached. Check the connection and try again; nothing was charged unless a response was on its way.";
    document.querySelector("main")?.prepend(line);
  } finally {
    waiting = false;
  }
  return undefined;
}
