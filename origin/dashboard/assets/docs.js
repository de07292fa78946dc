/**
 * The documentation, better with JavaScript: a search box, contents that mark where the reader is, copy
 * buttons, and one tab for each language.
 */

import { followContents } from "./contents.js";
import { copyOnClick } from "./page.js";
import { searchBox } from "./search.js";

const STORED = "language of examples";

for (const block of document.querySelectorAll("article pre")) {
  addCopyButton(block);
}
const groups = [...document.querySelectorAll(".examples")].map(makeTabs);
choose(remembered());

const form = document.querySelector("form.find");
if (form instanceof HTMLFormElement) searchBox(form);
const contents = document.querySelector("details.contents");
if (contents instanceof HTMLDetailsElement) followContents(contents);
follow();
addEventListener("hashchange", follow);

/** Goes on to the page that has the section of the address now. */
function follow() {
  const moved = document.getElementById(location.hash.slice(1));
  if (moved instanceof HTMLAnchorElement && moved.closest(".moved")) location.replace(moved.href);
}

/** @param {Element} block */
function addCopyButton(block) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "plain copy-code";
  button.textContent = "Copy";
  const frame = document.createElement("div");
  frame.className = "code";
  block.before(frame);
  frame.append(block, button);
  copyOnClick(button, () => block.textContent ?? "");
}

/**
 * Gives the programs of an example a tab each (WAI-ARIA, "Tabs Pattern").
 * @param {Element} group
 * @param {number} number
 */
function makeTabs(group, number) {
  const panels = /** @type {HTMLElement[]} */ ([...group.querySelectorAll("figure")]);
  const list = document.createElement("div");
  list.setAttribute("role", "tablist");
  list.setAttribute("aria-label", "Language");
  const tabs = panels.map((panel, n) => makeTab(panel, `example-${number}-${n}`));
  list.append(...tabs);
  list.addEventListener("keydown", (event) => move(event, tabs));
  group.prepend(list);
  return { panels, tabs };
}

/** @param {HTMLElement} panel @param {string} id */
function makeTab(panel, id) {
  const language = panel.dataset.language ?? "";
  const tab = document.createElement("button");
  tab.type = "button";
  tab.className = "plain";
  tab.id = `${id}-tab`;
  tab.textContent = language;
  tab.setAttribute("role", "tab");
  tab.setAttribute("aria-controls", id);
  tab.addEventListener("click", () => choose(language));
  panel.id = id;
  panel.setAttribute("role", "tabpanel");
  panel.setAttribute("aria-labelledby", tab.id);
  panel.querySelector("figcaption")?.remove();
  return tab;
}

/** @param {KeyboardEvent} event @param {HTMLElement[]} tabs */
function move(event, tabs) {
  const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  const focused = document.activeElement;
  const at = focused instanceof HTMLElement ? tabs.indexOf(focused) : -1;
  if (step === undefined || at < 0) return;
  const next = tabs[(at + step + tabs.length) % tabs.length];
  next?.focus();
  next?.click();
}

/**
 * Shows a language in all examples that have it, and the first one in others.
 * @param {string} language
 */
function choose(language) {
  for (const { panels, tabs } of groups) {
    const chosen = Math.max(
      0,
      panels.findIndex((panel) => panel.dataset.language === language),
    );
    panels.forEach((panel, n) => {
      panel.hidden = n !== chosen;
      tabs[n]?.setAttribute("aria-selected", String(n === chosen));
      tabs[n]?.setAttribute("tabindex", n === chosen ? "0" : "-1");
    });
  }
  try {
    localStorage.setItem(STORED, language);
  } catch {
    // The browser keeps nothing for us; the choice holds for this page.
  }
}

function remembered() {
  try {
    return localStorage.getItem(STORED) ?? "";
  } catch {
    return "";
  }
}
