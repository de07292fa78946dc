/**
 * Reads a list with Papa Parse and writes it again with the results beside its
 * columns. A list is small enough to be in memory as a whole; longer ones are for
 * `addrspec check`.
 */

/** @type {typeof import("papaparse")} */
const Papa = Reflect.get(globalThis, "Papa"); // from papaparse.min.js, which is no module

/** The largest file in bytes, and the longest address that is sent. */
export const MAX_FILE = 5 << 20;
export const MAX_ADDRESS = 1000;

const SAMPLE_ROWS = 100;
const DELIMITERS = [",", ";", "\t", "|"];

/** The 16 fields of a result in the order of the API, and why a check failed. */
const FIELDS = /** @type {const} */ ([
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
const COLUMNS = [...FIELDS, "error"];

/** @typedef {"utf-8" | "utf-16le" | "utf-16be" | "windows-1252"} Encoding */

/**
 * How to read a file. The delimiter "" means text: one address a line.
 * @typedef {{ encoding: Encoding, delimiter: string, header: boolean, column: number }} Choice
 */

/** @typedef {{ choice: Choice, newline: string, mark: boolean, rows: string[][] }} List */

/** The result of an address, or a code such as DNS_TIMEOUT. @typedef {{ facts?: Record<string, unknown>, error?: string }} Result */

/** Why a list cannot be read, in a sentence for the page. */
export class ListProblem extends Error {
  /**
   * @param {string} code what kind of problem it is, such as "encoding"
   * @param {string} sentence what is wrong and what to do
   */
  constructor(code, sentence) {
    super(sentence);
    this.code = code;
  }
}

/**
 * Reads a file; what is not given is guessed.
 * @param {File} file
 * @param {Partial<Choice>} given
 * @returns {Promise<List>}
 */
export async function readList(file, given = {}) {
  if (file.size === 0) throw new ListProblem("empty", "The file is empty.");
  if (file.size > MAX_FILE) {
    throw new ListProblem(
      "size",
      "The file is larger than 5 MiB. Check it with the command line, as below.",
    );
  }
  const bytes = new Uint8Array(await file.arrayBuffer());
  const { encoding, mark } = encodingOf(bytes);
  const text = decode(bytes, given.encoding ?? encoding);
  const delimiter = given.delimiter ?? guessDelimiter(text, file.name);
  const rows = parse(text, delimiter);
  const column = given.column ?? guessColumn(rows);
  const header = given.header ?? guessHeader(rows, column);
  return {
    choice: { encoding: given.encoding ?? encoding, delimiter, header, column },
    newline: /\r\n?|\n/.exec(text)?.[0] ?? "\n",
    mark,
    rows,
  };
}

/**
 * The encoding that a byte order mark names (the Encoding standard, section 6.1
 * "BOM sniff"); UTF-8 without one.
 * @param {Uint8Array} bytes
 * @returns {{ encoding: Encoding, mark: boolean }}
 */
function encodingOf([a, b, c]) {
  if (a === 0xff && b === 0xfe) return { encoding: "utf-16le", mark: true };
  if (a === 0xfe && b === 0xff) return { encoding: "utf-16be", mark: true };
  return { encoding: "utf-8", mark: a === 0xef && b === 0xbb && c === 0xbf };
}

/**
 * @param {Uint8Array} bytes
 * @param {Encoding} encoding
 */
function decode(bytes, encoding) {
  let text;
  try {
    text = new TextDecoder(encoding, { fatal: true }).decode(bytes);
  } catch {
    throw new ListProblem("encoding", notInEncoding(encoding));
  }
  if (text.includes("\0")) {
    throw new ListProblem(
      "binary",
      "This is not a text file. A spreadsheet must be saved as CSV first.",
    );
  }
  return text;
}

/** @param {Encoding} encoding */
function notInEncoding(encoding) {
  return encoding === "utf-8"
    ? "The file is not in UTF-8. If it comes from an older Windows program, read it as Windows-1252; otherwise save it as UTF-8."
    : `The file is not in ${encoding.toUpperCase()}. Choose another encoding, or save it as UTF-8.`;
}

/**
 * @param {string} text
 * @param {string} delimiter
 */
function parse(text, delimiter) {
  const lines = text.replace(/\r\n?/g, "\n").replace(/\n$/, ""); // Papa Parse takes one kind of line break
  if (delimiter === "") return lines.split("\n").map((line) => [line]);
  const { data, errors } = Papa.parse(lines, { delimiter, newline: "\n" });
  const [error] = errors;
  if (error) {
    throw new ListProblem(
      "quote",
      `Row ${((error.row ?? 0) + 1).toLocaleString("en")}: a quotation mark opens a cell and does not close it. Is one missing? If marks have no meaning in your file, read it as one address a line.`,
    );
  }
  return /** @type {string[][]} */ (data);
}

/**
 * The delimiter that gives most rows the same number of cells, more than one.
 * @param {string} text
 * @param {string} name
 */
function guessDelimiter(text, name) {
  let best = { delimiter: /\.csv$/i.test(name) ? "," : "", score: 0.6 };
  for (const delimiter of DELIMITERS) {
    const { data } = Papa.parse(text, { delimiter, preview: SAMPLE_ROWS, skipEmptyLines: true });
    const rows = /** @type {string[][]} */ (data);
    const width = rows[0]?.length ?? 1;
    const score = width === 1 ? 0 : rows.filter((row) => row.length === width).length / rows.length;
    if (score > best.score) best = { delimiter, score };
  }
  return best.delimiter;
}

/** @param {string[][]} rows */
function guessColumn(rows) {
  /** @type {number[]} */
  const votes = [];
  for (const cells of rows.slice(0, SAMPLE_ROWS)) {
    cells.forEach((cell, n) => {
      votes[n] = (votes[n] ?? 0) + (cell.includes("@") ? 1 : 0);
    });
  }
  rows[0]?.forEach((cell, n) => {
    votes[n] = (votes[n] ?? 0) + (/e-?mail/i.test(cell) ? 0.5 : 0);
  });
  return Math.max(0, votes.indexOf(Math.max(...votes)));
}

/**
 * The first row is a header if it has no address where later rows have some.
 * @param {string[][]} rows
 * @param {number} column
 */
function guessHeader([first, ...rest], column) {
  const isAddress = (/** @type {string[]} */ cells) => cells[column]?.includes("@") ?? false;
  return first !== undefined && !isAddress(first) && rest.slice(0, SAMPLE_ROWS).some(isAddress);
}

/** The rows without the header. @param {List} list */
export const dataRows = ({ rows, choice }) => (choice.header ? rows.slice(1) : rows);

/**
 * The address of a row, without surrounding white space.
 * @param {List} list
 * @param {string[]} cells
 */
export const addressOf = ({ choice }, cells) => (cells[choice.column] ?? "").trim();

/**
 * The different addresses of a list that can be checked, in order.
 * @param {List} list
 */
export function addressesOf(list) {
  const found = dataRows(list).map((cells) => addressOf(list, cells));
  return [...new Set(found)].filter((a) => a !== "" && a.length <= MAX_ADDRESS);
}

/** What spreadsheets take for the beginning of a formula (OWASP, "CSV Injection"). */
const FORMULA = /^[=+\-@\t\r\n＝＋－＠]/u;

/** How many cells of the file a spreadsheet may run. @param {List} list */
export const formulasOf = (list) =>
  dataRows(list)
    .flat()
    .filter((cell) => FORMULA.test(cell)).length;

/**
 * The result as CSV: each row with its own cells, unchanged, then our columns, empty
 * where an address was not checked. Short rows are filled up, so that our columns
 * are below each other.
 * @param {List} list
 * @param {Map<string, Result>} results by address
 * @param {boolean} protect whether our cells get an apostrophe before what a spreadsheet takes for a formula
 */
export function writeList(list, results, protect) {
  const width = list.rows.reduce((most, cells) => Math.max(most, cells.length), 1);
  const fill = (/** @type {string[]} */ cells) => [
    ...cells,
    ...Array(width - cells.length).fill(""),
  ];
  const header = list.choice.header ? (list.rows[0] ?? []) : namesFor(width);
  const rows = dataRows(list).map((cells) => {
    const own = resultCells(addressOf(list, cells), results);
    return [...fill(cells), ...(protect ? own.map(protectCell) : own)];
  });
  const text = Papa.unparse([[...fill(header), ...columnNames(header)], ...rows], {
    delimiter: list.choice.delimiter || ",",
    newline: "\n",
  });
  return `${list.mark ? "\ufeff" : ""}${text}\n`.replaceAll("\n", list.newline);
}

/** Names for the columns of a file without a header. @param {number} width */
const namesFor = (width) =>
  Array.from({ length: width }, (_, n) => (width === 1 ? "address" : `column ${n + 1}`));

/**
 * The names of our columns, with a prefix if the file already has one of them.
 * @param {string[]} present
 */
function columnNames(present) {
  const taken = new Set(present.map((name) => name.trim().toLowerCase()));
  return COLUMNS.some((name) => taken.has(name))
    ? COLUMNS.map((name) => `addrspec_${name}`)
    : COLUMNS;
}

/**
 * @param {string} address
 * @param {Map<string, Result>} results
 */
function resultCells(address, results) {
  const { facts = {}, error = "" } = results.get(address) ?? {};
  const code = address.length > MAX_ADDRESS ? "ADDRESS_TOO_LONG" : error;
  const cells = FIELDS.map((field) => String(facts[field] ?? ""));
  if (code) cells[0] = address.slice(0, MAX_ADDRESS);
  return [...cells, code];
}

/** @param {string} cell */
const protectCell = (cell) => (FORMULA.test(cell) ? `'${cell}` : cell);
