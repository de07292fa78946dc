/** The page of a policy: ticks that are a view of its document, and trying it in place. */

import { sendInPlace } from "./page.js";
import { ENTRIES, entriesOf, parseRules, withEntries } from "./policy-rules.js";

const form = /** @type {HTMLFormElement} */ (document.getElementById("policy"));
const source = /** @type {HTMLTextAreaElement | null} */ (document.getElementById("document"));
const flaw = document.getElementById("flaw");
const sections = /** @type {NodeListOf<HTMLFieldSetElement>} */ (
  form.querySelectorAll("[data-section]")
);

if (source) {
  const json = /** @type {HTMLDetailsElement} */ (document.getElementById("json"));
  json.open = !showRules(source);
  source.addEventListener("input", () => showRules(source));
  for (const section of sections) {
    section.addEventListener("input", () => changeRules(source, section));
  }
  markFlaw();
}
form.addEventListener("submit", (event) => {
  if (event.submitter?.hasAttribute("formaction")) {
    event.preventDefault();
    void tryIt(/** @type {HTMLButtonElement} */ (event.submitter));
  }
});

/** The parts of a section. @param {HTMLFieldSetElement} section */
function partsOf(section) {
  const area = (/** @type {string} */ list) =>
    /** @type {HTMLTextAreaElement | null} */ (section.querySelector(`[data-list="${list}"]`));
  const boxes = /** @type {NodeListOf<HTMLInputElement>} */ (section.querySelectorAll("[value]"));
  return { boxes: [...boxes], areas: ENTRIES.map(area), others: area("reasons") };
}

/** Sets the ticks by the document, if it can be read, and reports that. @param {HTMLTextAreaElement} from */
function showRules(from) {
  const rules = parseRules(from.value);
  for (const section of sections) {
    const list = rules?.[section.dataset.section ?? ""] ?? {};
    const reasons = list.reasons ?? [];
    const parts = partsOf(section);
    section.disabled = !rules;
    for (const box of parts.boxes) box.checked = reasons.includes(box.value);
    const others = reasons.filter((reason) => !parts.boxes.some(({ value }) => value === reason));
    for (const [n, name] of ENTRIES.entries()) {
      const lines = parts.areas[n];
      if (lines) lines.value = (list[name] ?? []).join("\n");
    }
    if (parts.others) parts.others.value = others.join("\n");
  }
  return rules !== null;
}

/** Changes the document by the ticks of a section. @param {HTMLTextAreaElement} to @param {HTMLFieldSetElement} section */
function changeRules(to, section) {
  const { boxes, areas, others } = partsOf(section);
  const checked = boxes.filter((box) => box.checked).map(({ value }) => value);
  const shown = Object.fromEntries(
    ENTRIES.map((list, n) => [list, entriesOf(areas[n]?.value ?? "")]),
  );
  if (others) shown.reasons = [...checked, ...entriesOf(others.value)];
  const rules = parseRules(to.value) ?? {};
  const name = section.dataset.section ?? "";
  to.value = withEntries(rules, name, shown);
}

/** Sends the form as it is, and shows what it decides, or what is wrong with it. @param {HTMLButtonElement} button */
async function tryIt(button) {
  const page = await sendInPlace(form, button, button.formAction, ["verdict", "flaw"]);
  if (!page?.getElementById("verdict")) return;
  document.getElementById("problem")?.remove(); // the verdict has it
  for (const field of form.querySelectorAll("[aria-invalid]")) {
    field.removeAttribute("aria-invalid");
  }
  for (const invalid of page.querySelectorAll("[name][aria-invalid]")) {
    const field = form.querySelector(`[name="${invalid.getAttribute("name")}"]`);
    field?.setAttribute("aria-invalid", "true");
  }
  markFlaw();
  const invalid = form.querySelector("[aria-invalid]");
  if (invalid instanceof HTMLElement) invalid.focus(); // it is described by what is wrong with it
}

/** Marks the text area of the entry that is wrong, such as review.domains[1], in place of the document. */
function markFlaw() {
  const [, section, list] =
    /(\w+)\.(\w+)\[/.exec(flaw?.querySelector("p")?.textContent ?? "") ?? [];
  const area = section && form.querySelector(`[data-section="${section}"] [data-list="${list}"]`);
  if (!area) return;
  source?.removeAttribute("aria-invalid");
  area.setAttribute("aria-invalid", "true");
  area.setAttribute("aria-describedby", "flaw");
}
