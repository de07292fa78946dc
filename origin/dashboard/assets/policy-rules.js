/** The rules of a policy's document, as the ticks of its page show and change them. */

/** @typedef {{ domains?: string[], reasons?: string[] }} List */
/** A document; it may have members that this page does not know. @typedef {Record<string, List>} Rules */

/** The members of a document that the page shows. */
const SECTIONS = ["allow", "block", "review"];

/**
 * The rules of a document, or null if it is no JSON or of another shape.
 * @param {string} document
 * @returns {Rules | null}
 */
export function parseRules(document) {
  try {
    const rules = JSON.parse(document);
    const lists = SECTIONS.map((section) => rules[section] ?? {});
    return isObject(rules) && lists.every(isList) ? rules : null;
  } catch {
    return null;
  }
}

/** @param {unknown} value */
const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);

/** @param {List} list */
const isList = (list) =>
  isObject(list)
  && [list.domains ?? [], list.reasons ?? []].every(
    (entries) => Array.isArray(entries) && entries.every((entry) => typeof entry === "string"),
  );

/**
 * The document with other entries in a section. Whatever else it has stays, and reasons keep their
 * order, because the first one that applies is given as the reason.
 * @param {Rules} rules
 * @param {string} section
 * @param {string[]} domains
 * @param {string[]} [reasons] those of the document, if the section shows none
 */
export function withEntries(rules, section, domains, reasons) {
  /** @type {List} */
  const list = { ...rules[section], domains };
  if (reasons) {
    const kept = list.reasons?.filter((reason) => reasons.includes(reason)) ?? [];
    list.reasons = [...new Set([...kept, ...reasons])];
  }
  if (domains.length === 0) delete list.domains;
  if (list.reasons?.length === 0) delete list.reasons;
  const changed = { ...rules, [section]: list };
  if (Object.keys(list).length === 0) delete changed[section];
  return JSON.stringify(changed, null, 2);
}

/** The lines of a text area that are not empty. @param {string} text */
export const entriesOf = (text) =>
  text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
