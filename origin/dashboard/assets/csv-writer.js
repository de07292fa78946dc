/** Writes the columns that a check adds to a row. */

/** The 16 fields of a result, in the order of the API, and why a check failed. */
export const FIELDS = /** @type {const} */ ([
  "email",
  "valid",
  "normalized",
  "local_part",
  "alias",
  "ascii",
  "role",
  "gibberish",
  "gibberish_score",
  "domain",
  "mx",
  "disposable",
  "public",
  "relay",
  "typo",
  "typo_suggestion",
]);
export const COLUMNS = [...FIELDS, "error"];

/** How cells are written. @typedef {{ delimiter: string, protect: boolean }} Style */

/** What spreadsheets take for the beginning of a formula (OWASP, "CSV Injection"). */
const FORMULA = /^[=+\-@\t\r\n＝＋－＠]/u;

/** @param {string} cell */
export const isFormula = (cell) => FORMULA.test(cell);

/**
 * Returns a cell as CSV. With protect, an apostrophe before what looks like a
 * formula makes spreadsheets show it as text.
 * @param {unknown} value
 * @param {Style} style
 */
export function writeCell(value, { delimiter, protect }) {
  let cell = value === null || value === undefined ? "" : String(value);
  if (protect && isFormula(cell)) cell = `'${cell}`;
  return cell.includes(delimiter) || /["\r\n]/.test(cell)
    ? `"${cell.replaceAll('"', '""')}"`
    : cell;
}

/**
 * Returns cells as CSV, without a line break.
 * @param {readonly unknown[]} values
 * @param {Style} style
 */
export function writeCells(values, style) {
  return values.map((value) => writeCell(value, style)).join(style.delimiter);
}

/**
 * Returns the names of our columns; with a prefix if the file already has one of
 * them.
 * @param {readonly string[]} present
 */
export function columnNames(present) {
  const taken = new Set(present.map((name) => name.trim().toLowerCase()));
  return COLUMNS.some((name) => taken.has(name))
    ? COLUMNS.map((name) => `addrspec_${name}`)
    : COLUMNS;
}
