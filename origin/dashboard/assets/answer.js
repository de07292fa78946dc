/** What is known about an address after its check, ready to be written beside its row. */

import { COLUMNS, FIELDS, writeCells } from "./csv-writer.js";

/** @typedef {import("./csv-writer.js").Style} Style */

/**
 * How a check ended. A failed one can be repeated; of "none" there is no address.
 * @typedef {"valid" | "invalid" | "failed" | "none"} Outcome
 */

/**
 * Our columns as CSV, and the outcome.
 * @typedef {{ text: string, outcome: Outcome }} Answer
 */

/**
 * @param {Record<string, unknown>} facts the 16 fields
 * @param {Style} style
 * @param {boolean} mx whether mx was asked for
 * @returns {Answer}
 */
export function answerOf(facts, style, mx) {
  const values = FIELDS.map((field) => (field === "mx" && !mx ? null : facts[field]));
  return { text: writeCells([...values, null], style), outcome: facts.valid ? "valid" : "invalid" };
}

/**
 * @param {string} email
 * @param {string} code such as DNS_TIMEOUT
 * @param {Style} style
 * @param {Outcome} outcome
 * @returns {Answer}
 */
export function errorAnswer(email, code, style, outcome = "failed") {
  const values = COLUMNS.map((_, n) => (n === 0 ? email : n === COLUMNS.length - 1 ? code : null));
  return { text: writeCells(values, style), outcome };
}

/** In the column error, of rows that cannot be checked again. */
export const TOO_LONG = "ADDRESS_TOO_LONG";

/**
 * Returns the outcome that our columns of a finished row show.
 * @param {string[]} cells the last ones of the row
 * @returns {Outcome}
 */
export function outcomeOf(cells) {
  const [email, valid] = cells;
  const error = cells[COLUMNS.length - 1];
  if (error === TOO_LONG) return "invalid";
  if (error !== "") return "failed";
  if (email === "" && valid === "") return "none";
  return valid === "true" ? "valid" : "invalid";
}
