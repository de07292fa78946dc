/** The rules of a policy's document, as the ticks of its page show and change them. */

/** @typedef {{ addresses?: string[], domains?: string[], exchanges?: string[], reasons?: string[] }} List */
/** A document; it may have members that this page does not know. @typedef {Record<string, List>} Rules */

/** The members of a document that the page shows. */
const SECTIONS = ["allow", "block", "review"];

/** The lists of a member that are not reasons, in the order in which they decide. */
export const ENTRIES = /** @type {const} */ (["addresses", "domains", "exchanges"]);

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
  && [...ENTRIES, /** @type {const} */ ("reasons")].every((name) => {
    const entries = list[name] ?? [];
    return Array.isArray(entries) && entries.every((entry) => typeof entry === "string");
  });

/**
 * The document with other entries in a section. Whatever else it has stays, and reasons keep their
 * order, because the first one that applies is given as the reason.
 * @param {Rules} rules
 * @param {string} section
 * @param {List} shown without reasons, those of the document stay
 */
export function withEntries(rules, section, shown) {
  /** @type {List} */
  const list = { ...rules[section], ...shown };
  if (shown.reasons) {
    const kept = rules[section]?.reasons?.filter((reason) => shown.reasons?.includes(reason)) ?? [];
    list.reasons = [...new Set([...kept, ...shown.reasons])];
  }
  for (const name of [...ENTRIES, /** @type {const} */ ("reasons")]) {
    if (list[name]?.length === 0) delete list[name];
  }
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
