/**
 * Reads a list with Papa Parse and writes it again with the results beside its columns, in the
 * layout of `addrspec check`. A list is small enough to be in memory as a whole; longer ones are
 * for the command, which also reads files of a more exotic shape.
 */

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
 * A list with the names of its columns, null without a header.
 * @typedef {{ choice: Choice, names: string[] | null, width: number, rows: Row[] }} List
 */

/** Why an address is not valid. @typedef {{ code: string, offset: number, sentence: string }} Refusal */

/** The result of an address. @typedef {{ facts?: Record<string, unknown>, refusal?: Refusal | null, failure?: Failure }} Result */

/** Why a list cannot be read, in a sentence for the page. */
export class ListProblem extends Error {
  /**
   * @param {string} sentence
   * @param {"" | "encoding" | "layout"} choose what another choice may help
   * @param {Uint8Array} line that needs another encoding
   */
  constructor(sentence, choose = "", line = new Uint8Array()) {
    super(sentence);
    this.choose = choose;
    this.line = line;
  }
}

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
  const encoding = encodingOf(bytes, given.encoding);
  const { text, lossy } = decode(bytes, encoding);
  if (given.delimiter === undefined && /^\s*(\{\s*["}]|\[\s*[{"\]])/.test(text)) {
    throw new ListProblem("This is JSON. Check it with the command line, as below.");
  }
  const known = new Set(names.split("\n").map(plain));
  const { rows, ...layout } = layoutOf(text, file.name, given, known);
  return { choice: { encoding, ...layout }, ...listOf(rows, layout, lossy && encoding) };
}

/**
 * The encoding: that of a byte order mark, the chosen one, or UTF-8.
 * @param {Uint8Array} bytes
 * @param {string | undefined} given
 */
function encodingOf(bytes, given) {
  const [a = 0, b = 0, c = 0] = bytes;
  const mark = (a << 16) | (b << 8) | c;
  if (mark === 0xefbbbf) return "utf-8";
  if (mark >> 8 === 0xfffe) return "utf-16le";
  if (mark >> 8 === 0xfeff) return "utf-16be";
  if (given) return given;
  if (bytes.includes(0)) {
    throw new ListProblem(
      "This is not text, or it is UTF-16 without a byte order mark. Save a spreadsheet (.xlsx, .xls, .ods) as CSV UTF-8, unpack an archive, or choose the encoding.",
      "encoding",
      bytes.subarray(0, 120),
    );
  }
  if (!decode(bytes, "utf-8").lossy) return "utf-8";
  for (let at = 0, number = 1; ; number++) {
    const end = bytes.indexOf(10, at) + 1 || bytes.length;
    const line = bytes.subarray(at, end);
    if (decode(line, "utf-8").lossy) {
      throw new ListProblem(
        `The file is not UTF-8 and has no byte order mark. Choose its encoding: below is line ${number} in each.`,
        "encoding",
        line,
      );
    }
    at = end;
  }
}

/** Decodes; lossy means that U+FFFD is in the place of some bytes. @param {Uint8Array} bytes @param {string} encoding */
export function decode(bytes, encoding) {
  try {
    return { text: new TextDecoder(encoding, { fatal: true }).decode(bytes), lossy: false };
  } catch {
    return { text: new TextDecoder(encoding).decode(bytes), lossy: true };
  }
}

/** How rows are laid out. @typedef {{ delimiter: string, header: boolean, column: number }} Layout */

/**
 * The layout, and the rows with a header if there is one.
 * @param {string} text
 * @param {string} name of the file
 * @param {Partial<Choice>} given
 * @param {Set<string>} known names of columns
 * @returns {Layout & { rows: Scanned[] }}
 */
function layoutOf(text, name, given, known) {
  const declared = /^"*sep=([,;\t|])"*\r?[\r\n]/i.exec(text); // for Excel
  const table = text.slice(declared?.[0].length ?? 0);
  const asked = given.delimiter ?? declared?.[1] ?? (/\.tsv$/i.test(name) ? "\t" : undefined);
  const parsed = asked === "" ? null : rowsOf(table, asked);
  const sample = (parsed?.rows ?? []).slice(0, SAMPLE_ROWS).map(({ cells }) => cells);
  const rows = sample.filter((cells) => !isBlank(cells));
  const isTable =
    asked !== undefined
    || parsed?.found
    || /\.csv$/i.test(name)
    || isName(rows[0]?.[0] ?? "", known);
  if (!parsed || !isTable) {
    const lines = text.split(/\r\n|\r|\n/).map((line) => ({ cells: [line], torn: false }));
    return { delimiter: "", header: false, column: 0, rows: withoutEnd(lines) };
  }
  if (widest(sample) > MAX_CELLS) {
    throw new ListProblem("The list has more than 1000 columns. Is the separator right?", "layout");
  }
  const column = given.column ?? findColumn(rows, known);
  const cell = rows[0]?.[column] ?? "";
  const later = rows.slice(1).some((cells) => cells[column]?.includes("@"));
  const named =
    !cell.includes("@") && (later || isName(cell, known) || plain(cell).includes("mail"));
  const header = rows.length > 0 && (given.header ?? named);
  return { delimiter: parsed.delimiter, header, column, rows: parsed.rows };
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

/** The column of addresses: one with a known name, else that with the most. @param {string[][]} rows @param {Set<string>} known */
function findColumn(rows, known) {
  const votes = Array(Math.max(1, widest(rows))).fill(0);
  for (const [n, cells] of rows.entries()) {
    for (const [at, cell] of cells.entries()) {
      if (cell.includes("@")) votes[at] += 2;
      else if (n === 0 && isName(cell, known)) votes[at] += 2 * SAMPLE_ROWS;
      else if (n === 0 && plain(cell).includes("mail")) votes[at]++;
    }
  }
  return votes.indexOf(Math.max(...votes));
}

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
 * The rows after the header, each as wide as the table. Blank rows before the header are dropped.
 * @param {Scanned[]} scanned
 * @param {Layout} layout
 * @param {string | false} lossy the encoding, where bytes are not in it
 * @returns {{ names: string[] | null, width: number, rows: Row[] }}
 */
function listOf(scanned, { delimiter, header, column }, lossy) {
  const first = header ? scanned.findIndex(({ cells }) => !isBlank(cells)) : -1;
  const names = scanned[first]?.cells ?? null;
  const rest = scanned.filter(({ torn }, n) => torn || n > first);
  const width = names?.length ?? widest(rest.slice(0, SAMPLE_ROWS).map(({ cells }) => cells));
  const rows = rest.map((row) => rowOf(row, width, delimiter === "" ? -1 : column, lossy));
  return { names, width, rows };
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
 * where an address was not checked. For a spreadsheet, what it would run is escaped, and
 * a byte order mark makes Excel read UTF-8. A bad row keeps its cells: those beyond the
 * width of the table follow our columns.
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
  return `${safe ? "\ufeff" : ""}${line([...names, ...columnNames(names)])}${lines.join("")}`;
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

/** @param {Result | undefined} found undefined if it was not checked */
function resultCells({ facts = {}, refusal, failure } = {}) {
  return [
    ...FIELDS.map((field) => String(facts[field] ?? "")),
    refusal?.code ?? "",
    String(refusal?.offset ?? ""),
    failure?.code ?? "",
    failure?.message ?? refusal?.sentence ?? "",
  ];
}
