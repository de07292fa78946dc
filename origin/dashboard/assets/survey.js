/** Reads a file once before anything is checked: its problems, and what it costs. */

import { isFormula } from "./csv-writer.js";
import { Recent } from "./recent.js";
import { addressOf, rowsOf } from "./table.js";

/**
 * How many addresses the survey remembers at most. A run always remembers more, so
 * a list never costs more than the survey says.
 */
const SURVEYED = 50_000;

/** The longest address that is sent; the module refuses longer ones by length alone. */
export const MAX_ADDRESS = 4096;

/**
 * rows without the header; addresses that are checked; distinct ones, which is
 * the most that the list costs in points; the most cells of a row; cells that a
 * spreadsheet may run as formulas.
 * @typedef {{ rows: number, addresses: number, distinct: number, width: number, formulas: number, names: string[] }} Survey
 */

/**
 * @param {Blob} file
 * @param {import("./table.js").Choice} choice
 * @param {(read: number) => void} onRead
 * @param {() => boolean} stopped
 * @returns {Promise<Survey>}
 */
export async function survey(file, choice, onRead = () => {}, stopped = () => false) {
  /** @type {Survey} */
  const found = { rows: 0, addresses: 0, distinct: 0, width: 1, formulas: 0, names: [] };
  const seen = new Recent(SURVEYED);
  let header = choice.header;
  for await (const { rows, read } of rowsOf(file, choice)) {
    for (const row of rows) {
      found.width = Math.max(found.width, row.cells.length);
      if (header) found.names = row.cells;
      else count(found, row, addressOf(row, choice), seen);
      header = false;
    }
    onRead(read);
    if (stopped()) break;
  }
  return found;
}

/**
 * @param {Survey} found
 * @param {import("./csv-reader.js").Row} row
 * @param {string} address
 * @param {Recent<number, true>} seen
 */
function count(found, row, address, seen) {
  found.rows++;
  for (const cell of row.cells) if (isFormula(cell)) found.formulas++;
  if (address === "" || address.length > MAX_ADDRESS) return;
  found.addresses++;
  const hash = hashOf(address);
  if (seen.get(hash) === undefined) found.distinct++;
  seen.set(hash, true);
}

/**
 * Returns 53 bits of two FNV-1a hashes: strings would keep the file's text in
 * memory. A collision makes the count one too small, which is rarer than 1 in a
 * million lists of 100,000 addresses.
 * @param {string} text
 */
export function hashOf(text) {
  let a = 0x811c9dc5;
  let b = 0x9e3779b9;
  for (let i = 0; i < text.length; i++) {
    a = Math.imul(a ^ text.charCodeAt(i), 0x01000193);
    b = Math.imul(b ^ text.charCodeAt(i), 0x85ebca6b);
    b ^= b >>> 15;
  }
  return (a >>> 0) * 0x200000 + (b >>> 11);
}
