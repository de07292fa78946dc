/**
 * Reads a list with Papa Parse and writes it again with the results beside its columns, in the
 * layout of `addrspec check`. A list is small enough to be in memory as a whole; longer ones are
 * for the command, which also reads files of a more exotic shape.
 */

import { ListProblem, textOf } from "./list-text.js";

/**
 * What we use of Papa Parse (papaparse.min.js), which the page loads before this module.
 * @typedef {{ type: string, index: number }} ParseError
 * @typedef {{ data: string[], errors: ParseError[] }} Step
 * @typedef {{ abort(): void }} Parser
 * @type {{ parse(text: string, config: object): { errors: ParseError[], meta: { delimiter: string, linebreak: string } } }}
 */
const Papa = Reflect.get(globalThis, "Papa");

/** The largest file in bytes. */
export const MAX_FILE = 5 << 20;
/** The longest cell that is taken for an address, in characters; a valid one has 254 bytes at most. */
const MAX_ADDRESS = 1000;
const MAX_CELLS = 1000;
/** How many quotation marks that are not closed are passed over. */
const MAX_TORN = 100;
const SAMPLE_ROWS = 100;
/** In how many rows the names of columns are looked for. */
const HEADER_ROWS = 10;
const DELIMITERS = [",", ";", "\t", "|"];
/** The fields of a result in the order of the API, but for email, which the file has. */
const FIELDS = /** @type {const} */ ([
  ...[
    "valid",
    "normalized",
    "local_part",
    "alias",
    "ascii",
    "role",
    "gibberish",
    "gibberish_score",
  ],
  ...["domain", "mx", "disposable", "public", "relay", "typo", "typo_suggestion"],
]);
const COLUMNS = [...FIELDS, "reason", "reason_offset", "error", "message"];

/**
 * How to read a file: the encoding is a label of the WHATWG, and the delimiter "" means text, one
 * address a line.
 * @typedef {{ encoding: string, delimiter: string, header: boolean, column: number }} Choice
 */

/** Why there is no result. @typedef {{ code: string, message: string }} Failure */

/** A row that is no header; without an address it has a failure. @typedef {{ cells: string[], address: string, failure?: Failure }} Row */

/**
 * A list with the names of its columns, null without a header, and what precedes them.
 * @typedef {{ names: string[] | null, preamble: string[][], width: number, rows: Row[] }} Table
 */

/** @typedef {{ choice: Choice } & Omit<import("./list-text.js").Text, "text"> & Table} List */

/** Why an address is not valid. @typedef {{ code: string, offset: number, sentence: string, suggestion?: string | null }} Refusal */

/** The result of an address. @typedef {{ facts?: Record<string, unknown>, refusal?: Refusal | null, failure?: Failure }} Result */

/**
 * Reads a file; what is not given is found out, but for an encoding that is neither UTF-8 nor
 * marked: a guess may falsify letters without a sign.
 * @param {File} file
 * @param {Partial<Choice>} given
 * @param {string} names of columns of addresses, one a line
 * @returns {Promise<List>}
 */
export async function readList(file, given, names) {
  if (file.size === 0) throw new ListProblem("The file is empty.");
  if (file.size > MAX_FILE) {
    throw new ListProblem(
      "The file is larger than 5 MiB. Check it with the command line, as below.",
    );
  }
  const bytes = new Uint8Array(await file.arrayBuffer());
  const { text, ...how } = textOf(bytes, given.encoding);
  const known = new Set(names.split("\n").map(plain));
  const { rows, head, ...layout } = layoutOf(text, file.name, given, known);
  const table = listOf(rows, head, layout, how.lossy && how.encoding);
  return { ...how, ...table, choice: { encoding: how.encoding, ...layout } };
}

/** How rows are laid out. @typedef {{ delimiter: string, header: boolean, column: number }} Layout */

/**
 * The layout, the rows, and which of them is the header, or -1.
 * @param {string} text
 * @param {string} name of the file
 * @param {Partial<Choice>} given
 * @param {Set<string>} known names of columns
 * @returns {Layout & { rows: Scanned[], head: number }}
 */
function layoutOf(text, name, given, known) {
  const declared = /^"*sep=([,;\t|])"*\r?[\r\n]/i.exec(text); // for Excel
  const table = text.slice(declared?.[0].length ?? 0);
  const lines = table.split(/\r\n|\r|\n/, HEADER_ROWS);
  const certain = DELIMITERS.find((delimiter) => {
    const split = lines.map((line) => line.split(delimiter));
    return (findNames(split, known) ?? []).length > 1;
  });
  const asked = given.delimiter ?? declared?.[1] ?? (/\.tsv$/i.test(name) ? "\t" : certain);
  const parsed = asked === "" ? null : rowsOf(table, asked);
  const sample = (parsed?.rows ?? []).slice(0, SAMPLE_ROWS).map(({ cells }) => cells);
  const rows = sample.filter((cells) => !isBlank(cells));
  const names = findNames(rows, known);
  const isTable = asked !== undefined || parsed?.found || /\.csv$/i.test(name) || names;
  if (!parsed || !isTable) {
    const all = text.split(/\r\n|\r|\n/).map((line) => ({ cells: [line], torn: false }));
    return { delimiter: "", header: false, column: 0, rows: withoutEnd(all), head: -1 };
  }
  if (widest(sample) > MAX_CELLS) {
    throw new ListProblem("The list has more than 1000 columns. Is the separator right?", "layout");
  }
  const first = names ?? rows[0] ?? [];
  const column = given.column ?? findColumn(rows, first, known);
  const cell = first[column] ?? "";
  const later = rows.slice(1).some((cells) => isAddress(cells[column] ?? ""));
  const named = names || (!isAddress(cell) && (later || plain(cell).includes("mail")));
  const header = rows.length > 0 && (given.header ?? Boolean(named));
  const head = header ? parsed.rows.findIndex(({ cells }) => cells === first) : -1;
  return { delimiter: parsed.delimiter, header, column, rows: parsed.rows, head };
}

/** The row with a known name before any address: the widest, since a title may have one too. @param {string[][]} rows @param {Set<string>} known */
function findNames(rows, known) {
  const address = rows.findIndex((cells) => cells.some(isAddress));
  const before = rows.slice(0, Math.min(HEADER_ROWS, address < 0 ? HEADER_ROWS : address));
  const named = before.filter((cells) => cells.some((cell) => isName(cell, known)));
  return named.find((cells) => cells.length === widest(named));
}

/** A row, and whether a quotation mark that is not closed makes it unreadable. @typedef {{ cells: string[], torn: boolean }} Scanned */

/**
 * The rows of a table. Papa Parse reads on to the next quotation mark where one is not closed, so
 * such a row is passed over, and the lines after its first are read on their own.
 * @param {string} text
 * @param {string | undefined} delimiter
 */
function rowsOf(text, delimiter) {
  /** @type {Scanned[]} */
  const rows = [];
  const { meta, errors: doubts } = Papa.parse(text, {
    ...{ delimiter, delimitersToGuess: DELIMITERS, preview: SAMPLE_ROWS, skipEmptyLines: "greedy" },
  });
  const config = { delimiter: meta.delimiter, newline: meta.linebreak };
  for (let at = 0, torn = 0; at < text.length; torn++) {
    const index = addRows(rows, text.slice(at), config);
    if (index < 0) break;
    if (torn === MAX_TORN) {
      throw new ListProblem(
        `More than ${MAX_TORN} rows have a quotation mark that is not closed, the last one row ${rows.length + 1}. Choose another separator, correct the file, or check it with the command line.`,
        "layout",
      );
    }
    rows.push({ cells: [], torn: true });
    const end = text.indexOf(config.newline, at + index);
    at = end < 0 ? text.length : end + config.newline.length;
  }
  const found = !doubts.some(({ type }) => type === "Delimiter");
  return { rows: withoutEnd(rows), delimiter: meta.delimiter, found };
}

/**
 * Adds the rows up to one with a quotation mark that is not closed, and returns where that is, or -1.
 * @param {Scanned[]} rows
 * @param {string} text
 * @param {object} config
 */
function addRows(rows, text, config) {
  let index = -1;
  Papa.parse(text, {
    ...config,
    step: (/** @type {Step} */ { data, errors: [error] }, /** @type {Parser} */ parser) => {
      if (!error) return rows.push({ cells: data, torn: false });
      index = error.index;
      return parser.abort();
    },
  });
  return index;
}

/** Removes what is after the last line end, if that is nothing. @param {Scanned[]} rows */
const withoutEnd = (rows) =>
  rows.at(-1)?.cells.join() === "" && !rows.at(-1)?.torn ? rows.slice(0, -1) : rows;

/** The column of addresses: one with a known name in first, else that with the most. @param {string[][]} rows @param {string[]} first @param {Set<string>} known */
function findColumn(rows, first, known) {
  const votes = Array(Math.max(1, widest(rows))).fill(0);
  for (const cells of rows) {
    for (const [at, cell] of cells.entries()) {
      if (isAddress(cell)) votes[at] += 2;
      else if (cells === first && isName(cell, known)) votes[at] += 2 * SAMPLE_ROWS;
      else if (cells === first && plain(cell).includes("mail")) votes[at]++;
    }
  }
  return votes.indexOf(Math.max(...votes));
}

/** Whether a cell looks like an address: a handle such as @ann does not. @param {string} cell */
function isAddress(cell) {
  const text = cell.trim();
  const at = text.lastIndexOf("@");
  const domain = text.slice(at + 1);
  return at > 0 && domain.includes(".") && !/\s/.test(domain);
}

/** Whether a cell has several addresses. @param {string} cell */
const hasSeveral = (cell) =>
  cell.indexOf("@") !== cell.lastIndexOf("@")
  && cell
    .replace(/"[^"]*"/g, "q") // a quoted local part or a name
    .split(/[\s,;，、；]+/)
    .filter(isAddress).length > 1;

/** The letters and digits of a name in lower case, without accents. @param {string} name */
const plain = (name) =>
  name
    .normalize("NFKD")
    .replace(/[^\p{L}\p{Nd}]/gu, "")
    .toLowerCase();

/** @param {string} cell @param {Set<string>} known */
const isName = (cell, known) => cell.length < 100 && plain(cell) !== "" && known.has(plain(cell));

/** @param {string[][]} rows */
const widest = (rows) => rows.reduce((most, cells) => Math.max(most, cells.length), 0);

/** @param {string[]} cells */
const isBlank = (cells) => cells.every((cell) => cell.trim() === "");

/**
 * The rows after the header, each as wide as the table. Blank rows before all others are dropped.
 * @param {Scanned[]} scanned
 * @param {number} head
 * @param {Layout} layout
 * @param {string | false} lossy the encoding, where bytes are not in it
 * @returns {Table}
 */
function listOf(scanned, head, { delimiter, column }, lossy) {
  const names = scanned[head]?.cells ?? null;
  const start = scanned.findIndex(({ cells }) => !isBlank(cells));
  const before = scanned.slice(start, Math.max(start, head));
  const preamble = before.flatMap(({ cells, torn }) => (torn ? [] : [cells]));
  const rest = scanned.filter(({ torn }, n) => torn || n > head);
  const width = names?.length ?? widest(rest.slice(0, SAMPLE_ROWS).map(({ cells }) => cells));
  const rows = rest.map((row) => rowOf(row, width, delimiter === "" ? -1 : column, lossy));
  return { names, preamble, width, rows };
}

/**
 * @param {Scanned} row
 * @param {number} width
 * @param {number} column -1 for text, where white space is part of the address
 * @param {string | false} lossy
 * @returns {Row}
 */
function rowOf({ cells, torn }, width, column, lossy) {
  const fail = (/** @type {string} */ message, code = "BAD_LINE") => ({
    ...{ cells, address: "", failure: { code, message } },
  });
  if (torn) {
    return fail(
      "a quotation mark opens a cell in this row and is not closed; the lines after this one are read on their own",
    );
  }
  if (lossy && cells.some((cell) => cell.includes("\ufffd"))) {
    return fail(`the line is not ${lossy}, which is the encoding of the list`);
  }
  while (cells.length > width && cells.at(-1) === "") cells.pop();
  if (cells.length > width) {
    return fail(
      `the row has ${cells.length} columns instead of ${width}: a cell with a separator in it needs quotation marks`,
    );
  }
  if (cells.length <= column && !isBlank(cells)) {
    return fail(
      `the row ends after column ${cells.length}, and the address is in column ${column + 1}`,
    );
  }
  while (cells.length < width) cells.push("");
  const address = column < 0 ? (cells[0] ?? "") : (cells[column] ?? "").trim();
  if (address.trim() === "") return fail("the row has no address", "NO_ADDRESS");
  if (hasSeveral(address)) {
    return fail("the cell has several addresses; give each a row of its own");
  }
  if (address.length > MAX_ADDRESS) return fail("the address is longer than 1000 characters");
  if (address.includes("\0")) return fail("a NUL byte in the address: this is not text");
  return { cells, address };
}

/** The different addresses of a list, in order. @param {List} list */
export const addressesOf = ({ rows }) => [
  ...new Set(rows.filter(({ failure }) => !failure).map(({ address }) => address)),
];

/** What spreadsheets take for the beginning of a formula, at the start of a cell or after a separator (OWASP, "CSV Injection"). */
const FORMULA = /(^|[;,\t\r\n])([=+\-@\t\r\n\0＝＋－＠])/g;

/** @param {string} cell */
const escapeFormula = (cell) => cell.replace(FORMULA, "$1'$2");

/** How many cells of the file a spreadsheet may run. @param {List} list */
export const formulasOf = ({ rows }) =>
  rows.flatMap(({ cells }) => cells).filter((cell) => cell !== escapeFormula(cell)).length;

/**
 * The result as CSV: each row with its own cells, unchanged, then our columns, empty
 * where an address was not checked. What precedes the header does so again. For a
 * spreadsheet, what it would run is escaped. It and a list that had a byte order mark, or
 * was not UTF-8, have such a mark, which makes Excel read UTF-8. A bad row keeps its cells:
 * those beyond the width of the table follow our columns.
 * @param {List} list
 * @param {Map<string, Result>} results by address
 * @param {boolean} safe whether it is for a spreadsheet
 */
export function writeList(list, results, safe) {
  const { delimiter } = list.choice;
  const line = (/** @type {string[]} */ cells) =>
    `${cells.map((cell) => quoted(safe ? escapeFormula(cell) : cell, delimiter || ",")).join(delimiter || ",")}\n`;
  const names = delimiter === "" ? ["email"] : namesOf(list);
  const lines = list.rows.map(({ cells, address, failure }) => {
    const own = Array.from({ length: list.width }, (_, n) => cells[n] ?? "");
    const found = failure ? { failure } : results.get(address);
    return line([...own, ...resultCells(found), ...cells.slice(list.width)]);
  });
  const head = [...list.preamble.map(line), line([...names, ...columnNames(names)])];
  return `${safe || list.mark ? "\ufeff" : ""}${[...head, ...lines].join("")}`;
}

/** @param {string} cell @param {string} delimiter */
const quoted = (cell, delimiter) =>
  /^[ \t]|["\r\n]/.test(cell) || cell.includes(delimiter)
    ? `"${cell.replaceAll('"', '""')}"`
    : cell;

/** The names of the columns; those without one are numbered. @param {List} list */
export const namesOf = ({ names, width }) =>
  names ?? Array.from({ length: width }, (_, n) => `column_${n + 1}`);

/** The names of our columns, with a prefix if the file has one of them. @param {string[]} present */
function columnNames(present) {
  const taken = new Set(present.map((name) => name.trim().toLowerCase()));
  let names = COLUMNS;
  for (let n = 1; names.some((name) => taken.has(name)); n++) {
    names = COLUMNS.map((name) => `addrspec${n === 1 ? "" : n}_${name}`);
  }
  return names;
}

/** What is wrong, and which address is meant. @param {Refusal} refusal */
function inWords({ sentence, suggestion }) {
  return suggestion ? `${sentence}; did you mean ${suggestion}?` : sentence;
}

/** @param {Result | undefined} found undefined if it was not checked */
function resultCells({ facts = {}, refusal, failure } = {}) {
  return [
    ...FIELDS.map((field) => String(facts[field] ?? "")),
    refusal?.code ?? "",
    String(refusal?.offset ?? ""),
    failure?.code ?? "",
    failure?.message ?? (refusal ? inWords(refusal) : ""),
  ];
}
