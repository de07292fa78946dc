/**
 * Reads a list and writes it again with the results beside its columns. The same file
 * gives the same bytes as `addrspec check`, whose packages input and output have the
 * reasons; a test compares both. A list is small enough to be in memory as a whole;
 * longer ones are for the command.
 */

/** The largest file in bytes. */
export const MAX_FILE = 5 << 20;
/** The longest address that the service is asked about; longer ones are never valid. */
export const MAX_ADDRESS = 1000;

const MAX_ROW = 1 << 20; // how far an open quotation mark reaches
const MAX_CELLS = 1000;
const SAMPLE = 64 << 10; // what is looked at to recognise a layout
const SAMPLE_ROWS = 100;
const MIN_REGULAR = 0.6;
const DELIMITERS = [",", ";", "\t", "|"];

/** The fields of a result in the order of the API, but for email, which the file has. */
const FIELDS = /** @type {const} */ ([
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
const COLUMNS = [...FIELDS, "reason", "reason_offset", "error", "message"];

/** @typedef {"utf-8" | "utf-16le" | "utf-16be" | "windows-1252"} Encoding */

/**
 * How to read a file. The delimiter "" means text: one address a line.
 * @typedef {{ encoding: Encoding, delimiter: string, header: boolean, column: number }} Choice
 */

/** Why there is no result. @typedef {{ code: string, message: string }} Failure */

/** A row that is no header; without an address it has a failure. @typedef {{ cells: string[], address: string, failure?: Failure }} Row */

/**
 * A list: why its encoding is the one of the choice, whether that was guessed, and the
 * names of the columns, null without a header.
 * @typedef {{ choice: Choice, why: string, guessed: boolean, names: string[] | null, width: number, rows: Row[] }} List
 */

/** Why an address is not valid. @typedef {{ code: string, offset: number, sentence: string }} Refusal */

/** The result of an address. @typedef {{ facts?: Record<string, unknown>, refusal?: Refusal | null, failure?: Failure }} Result */

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
 * Reads a file; what is not given is found out.
 * @param {File} file
 * @param {Partial<Choice>} given
 * @param {string} names of columns of addresses, one a line
 * @returns {Promise<List>}
 */
export async function readList(file, given, names) {
  if (file.size === 0) throw new ListProblem("empty", "The file is empty.");
  if (file.size > MAX_FILE) {
    throw new ListProblem(
      "size",
      "The file is larger than 5 MiB. Check it with the command line, as below.",
    );
  }
  const bytes = new Uint8Array(await file.arrayBuffer());
  refuseForeign(bytes);
  const { encoding, why, guessed } = encodingOf(bytes, given.encoding);
  const text = decode(bytes, encoding);
  if (given.delimiter === undefined && JSON_TEXT.test(text)) {
    throw new ListProblem("json", "This is JSON. Check it with the command line, as below.");
  }
  const layout = layoutOf(text, file.name, given, new Set(names.split("\n").map(plain)));
  const { delimiter, header, column } = layout;
  return {
    choice: { encoding, delimiter, header, column },
    why,
    guessed,
    ...rowsOf(text, layout, encoding.startsWith("utf-16")),
  };
}

/** An object, or an array of objects or strings. */
const JSON_TEXT = /^[ \t\r\n]*(\{[ \t\r\n]*["}]|\[[ \t\r\n]*[{"\]])/;

/** How files begin that are no text, and what to do with them. @type {[string, string][]} */
const FOREIGN = [
  ["PK\x03\x04", ""], // by the names in it
  [
    "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1",
    "This is an Excel workbook of the old format (.xls), or another old Office document, and not text: open it and save the sheet as CSV UTF-8.",
  ],
  ["%PDF-", "This is a PDF document: take the list from where it was made, as CSV or text."],
  [
    "\x1f\x8b",
    "This is compressed with gzip: unpack it, or check it with the command line, as below.",
  ],
  ["\xff\xfe\0\0", "This is UTF-32: save it as UTF-8."],
  ["\0\0\xfe\xff", "This is UTF-32: save it as UTF-8."],
];

/** Names what is no text by its signature. @param {Uint8Array} bytes */
function refuseForeign(bytes) {
  const head = String.fromCharCode(...bytes.subarray(0, 8));
  for (const [magic, sentence] of FOREIGN) {
    if (head.startsWith(magic)) throw new ListProblem("binary", sentence || zipped(bytes));
  }
}

/** @param {Uint8Array} bytes */
function zipped(bytes) {
  const names = new TextDecoder("windows-1252").decode(bytes.subarray(0, SAMPLE));
  const save = "open it and save the sheet as CSV UTF-8.";
  if (names.includes("opendocument.spreadsheet"))
    return `This is an OpenDocument spreadsheet (.ods) and not text: ${save}`;
  if (names.includes("xl/")) return `This is an Excel workbook (.xlsx) and not text: ${save}`;
  return `This is a ZIP archive or a spreadsheet (.xlsx, .ods), and not text: unpack an archive; of a spreadsheet, ${save}`;
}

/**
 * The encoding: that of a byte order mark, else UTF-8, or Windows-1252 if the first
 * line that is not ASCII is not UTF-8.
 * @param {Uint8Array} bytes
 * @param {Encoding | undefined} given
 * @returns {{ encoding: Encoding, why: string, guessed: boolean }}
 */
function encodingOf(bytes, given) {
  const marked = markOf(bytes);
  if (given && marked && given !== marked) {
    throw new ListProblem(
      "encoding",
      `The file begins with the byte order mark of ${marked}: it is not in ${given}.`,
    );
  }
  const head = bytes.subarray(0, SAMPLE);
  const wide = marked || given ? null : guessUTF16(head);
  const encoding = given ?? marked ?? wide;
  if (encoding?.startsWith("utf-16") !== true && head.includes(0)) {
    throw new ListProblem(
      "binary",
      "This is not text: it has a NUL byte. A spreadsheet must be saved as CSV UTF-8 first.",
    );
  }
  if (given) return { encoding: given, why: "it was chosen", guessed: false };
  if (marked) return { encoding: marked, why: "it begins with a byte order mark", guessed: false };
  if (wide) return { encoding: wide, why: "every second byte is zero", guessed: false };
  return firstLine(bytes);
}

/** The encoding that a byte order mark names. @param {Uint8Array} bytes @returns {Encoding | null} */
function markOf([a, b, c]) {
  if (a === 0xff && b === 0xfe) return "utf-16le";
  if (a === 0xfe && b === 0xff) return "utf-16be";
  return a === 0xef && b === 0xbb && c === 0xbf ? "utf-8" : null;
}

/** UTF-16 without a mark has zeros at even offsets or at odd ones. @param {Uint8Array} head @returns {Encoding | null} */
function guessUTF16(head) {
  let even = 0;
  let odd = 0;
  head.forEach((byte, n) => {
    if (byte === 0) n % 2 === 0 ? even++ : odd++;
  });
  const enough = Math.max(1, Math.floor(head.length / 8));
  if (odd >= enough && odd > 4 * even) return "utf-16le";
  return even >= enough && even > 4 * odd ? "utf-16be" : null;
}

/** @param {Uint8Array} bytes @returns {{ encoding: Encoding, why: string, guessed: boolean }} */
function firstLine(bytes) {
  const other = bytes.findIndex((byte) => byte >= 0x80);
  if (other < 0) return { encoding: "utf-8", why: "all of it is ASCII", guessed: false };
  let line = 1;
  for (let n = 0; n < other; n++) if (bytes[n] === LF) line++;
  const rest = bytes.subarray(other);
  const end = rest.findIndex((byte) => byte === LF || byte === CR);
  try {
    new TextDecoder("utf-8", { fatal: true }).decode(end < 0 ? rest : rest.subarray(0, end));
    const why = `line ${line}, the first that is not ASCII, is UTF-8`;
    return { encoding: "utf-8", why, guessed: false };
  } catch {
    return { encoding: "windows-1252", why: `line ${line} is not UTF-8`, guessed: true };
  }
}

const LF = 10;
const CR = 13;
/** Half of a surrogate pair, which no decoder returns: bytes that are not UTF-8. */
const GARBLED = "\ud800";

/** @param {Uint8Array} bytes @param {Encoding} encoding */
function decode(bytes, encoding) {
  if (encoding === "utf-8") return decodeUTF8(bytes);
  const text = new TextDecoder(encoding).decode(bytes);
  return encoding === "windows-1252" ? text.replace(/[\x81\x8d\x8f\x90\x9d]/g, "\ufffd") : text;
}

/** Decodes line by line where there are lines in another encoding. @param {Uint8Array} bytes */
function decodeUTF8(bytes) {
  const strict = new TextDecoder("utf-8", { fatal: true });
  try {
    return strict.decode(bytes);
  } catch {}
  const exact = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  const loose = new TextDecoder("utf-8", { ignoreBOM: true });
  let text = "";
  for (let at = 0, end = 0; at < bytes.length; at = end) {
    while (end < bytes.length && bytes[end] !== LF && bytes[end] !== CR) end++;
    const line = bytes.subarray(at, ++end);
    try {
      text += exact.decode(line);
    } catch {
      text += loose.decode(line).replace(/\ufffd+/g, GARBLED);
    }
  }
  return text.replace(/^\ufeff/, "");
}

/**
 * A layout is how the rows are laid out; skip are rows before the header.
 * @typedef {{ delimiter: string, header: boolean, column: number, width: number, skip: number }} Layout
 */

/**
 * @param {string} text
 * @param {string} name of the file, whose extension breaks a tie
 * @param {Partial<Choice>} given
 * @param {Set<string>} known names of columns
 * @returns {Layout}
 */
function layoutOf(text, name, given, known) {
  const beginning = text.slice(0, SAMPLE).replace(/^[\r\n]+/, "");
  const whole = text.length <= SAMPLE;
  const ended = whole && !/[\r\n]/.test(beginning.trimStart());
  const first = recognise(beginning, ended, name, given, known);
  if (first.decided || ended) return first;
  return recognise(beginning, whole, name, given, known);
}

/**
 * The layout of an input that begins so. It is not decided if more rows may change it.
 * @param {string} beginning
 * @param {boolean} ended
 * @param {string} name
 * @param {Partial<Choice>} given
 * @param {Set<string>} known
 * @returns {Layout & { decided: boolean }}
 */
function recognise(beginning, ended, name, given, known) {
  const text = { delimiter: "", header: false, column: 0, width: 1, skip: 0 };
  if (given.delimiter === "") return { ...text, decided: true };
  const best = guessDelimiter(beginning, ended, known);
  const declared = declaredDelimiter(beginning);
  const isTable =
    given.delimiter !== undefined || declared || looksLikeTable(best, beginning, ended, known);
  if (!isTable && !/\.[ct]sv$/i.test(name)) {
    const mayBeHeader =
      best.rows.length === 0 || (best.rows.length === 1 && (best.rows[0]?.length ?? 0) > 1);
    return { ...text, decided: !mayBeHeader };
  }
  const guessed = best.regular > MIN_REGULAR ? best.delimiter : ",";
  const delimiter = given.delimiter ?? (declared || (/\.tsv$/i.test(name) ? "\t" : guessed));
  const skip = declared ? 1 : 0;
  const rows = sampleOf(beginning, ended, delimiter).slice(skip);
  const found = findColumn(rows, known);
  const column = given.column ?? found.column;
  const { decided } = findHeader(rows, found.sure ? column : 0, known);
  const named = given.header ?? findHeader(rows, column, known).header;
  const width = named ? (rows[0]?.length ?? 0) : widest(rows);
  return {
    ...{ delimiter, column, skip, width },
    header: named && rows.length > 0,
    decided: decided && (found.votes > 0 || widest(rows) === 1),
  };
}

/** @typedef {{ delimiter: string, rows: string[][], regular: number }} Guess */

/** The delimiter that gives most rows as many cells as the first. @param {string} beginning @param {boolean} ended @param {Set<string>} known @returns {Guess} */
function guessDelimiter(beginning, ended, known) {
  const guesses = DELIMITERS.map((delimiter) => {
    const rows = sampleOf(beginning, ended, delimiter);
    return { delimiter, rows, regular: regularity(rows, known) };
  });
  return guesses.reduce((best, guess) => (guess.regular > best.regular ? guess : best));
}

/** @param {string[][]} rows @param {Set<string>} known */
function regularity(rows, known) {
  const [first] = rows;
  if (!first || first.length === 1) return 0;
  const same = rows.filter((cells) => cells.length === first.length).length;
  const header = first.some((cell) => isName(cell, known)) ? rows.length : 0;
  return (same + header) / rows.length;
}

/** @param {Guess} best @param {string} text @param {boolean} ended @param {Set<string>} known */
function looksLikeTable({ rows, regular }, text, ended, known) {
  if (regular > MIN_REGULAR) return rows.length > 1 || findColumn(rows, known).votes > 0;
  return widest(rows) === 1 && (isName(rows[0]?.[0] ?? "", known) || allQuoted(text, ended));
}

/** Whether every line that is whole is in quotation marks. @param {string} text @param {boolean} ended */
function allQuoted(text, ended) {
  const end = Math.max(text.lastIndexOf("\r"), text.lastIndexOf("\n"));
  const lines = (!ended && end >= 0 ? text.slice(0, end) : text).split("\n");
  return lines.every((line) => /^("[\s\S]*")?$/.test(trim(line)));
}

/** The separator that a first line such as "sep=;" declares to Excel, or "". @param {string} text */
function declaredDelimiter(text) {
  return /^"*sep=([,;\t|])"*(\r|\n|$)/i.exec(text)?.[1] ?? "";
}

/** The first rows that are neither bad nor blank. @param {string} text @param {boolean} ended @param {string} delimiter */
function sampleOf(text, ended, delimiter) {
  const found = [];
  for (const { cells, bad, whole } of scan(text, delimiter)) {
    if (!whole && !ended) break;
    if (!bad && !isBlank(cells)) found.push(cells);
    if (found.length === SAMPLE_ROWS) break;
  }
  return found;
}

/** The column of addresses: one with a known name, else that with the most. @param {string[][]} rows @param {Set<string>} known */
function findColumn(rows, known) {
  const votes = Array(widest(rows) + 1).fill(0);
  for (const cells of rows) {
    cells.forEach((cell, n) => {
      votes[n] += cell.includes("@") ? 2 : 0;
    });
  }
  rows[0]?.forEach((cell, n) => {
    if (cell.includes("@")) return;
    votes[n] += isName(cell, known) ? 1 << 16 : plain(cell).includes("mail") ? 1 : 0;
  });
  const most = Math.max(...votes);
  const column = votes.indexOf(most);
  return { column, votes: most, sure: most >= 1 << 16 || votes.indexOf(most, column + 1) < 0 };
}

/**
 * The first row is a header if it has a known name, or no address where later rows have.
 * @param {string[][]} rows
 * @param {number} column
 * @param {Set<string>} known
 */
function findHeader(rows, column, known) {
  const cell = rows[0]?.[column] ?? "";
  if (cell.includes("@")) return { header: false, decided: true };
  if (isName(cell, known)) return { header: true, decided: true };
  const later = rows.slice(1).some((cells) => cells[column]?.includes("@"));
  return { header: later || plain(cell).includes("mail"), decided: rows.length > 1 };
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
const isBlank = (cells) => cells.every((cell) => trim(cell) === "");

/** Removes the white space that Go knows: with U+0085, without the byte order mark. @param {string} text */
const trim = (text) => text.replace(WHITE, "");
const WHITE =
  /^[\t-\r \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+|[\t-\r \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+$/g;

/** A row, where it ends, why it is bad, and whether more text changes it. @typedef {{ cells: string[], bad: string, end: number, whole: boolean }} Scanned */

const OPEN_QUOTE =
  "a quotation mark opens a cell in this row and is not closed; the lines after this one are read on their own";
const LONG_ROW = "the row is longer than 1 MiB; is this a list of addresses?";
const MANY_CELLS = "the row has more than 1000 columns; is the separator right?";

/**
 * The rows of CSV (RFC 4180), or lines. It takes what `addrspec check` takes: LF, CRLF
 * and CR end a row, a cell that goes on after its quotation marks is taken literally,
 * and a quotation mark that is not closed makes one bad row.
 * @param {string} text
 * @param {string} delimiter
 * @returns {Generator<Scanned>}
 */
function* scan(text, delimiter) {
  for (let at = 0; at < text.length; ) {
    const row = delimiter === "" ? scanLine(text, at) : scanRow(text, at, delimiter);
    at = row.end + (text.startsWith("\r\n", row.end) ? 2 : 1);
    yield row;
  }
}

/** @param {string} text @param {number} at */
function scanLine(text, at) {
  const end = lineEnd(text, at);
  const cells = [text.slice(at, end).replace(/^\ufeff/, "")];
  return { cells, bad: "", end, whole: end < text.length };
}

/** The next line end, or the end of the text. @param {string} text @param {number} at */
function lineEnd(text, at) {
  LINE_END.lastIndex = at;
  return LINE_END.exec(text)?.index ?? text.length;
}
const LINE_END = /[\r\n]/g;

/**
 * A row from its first character on.
 * @param {string} text
 * @param {number} start
 * @param {string} delimiter
 * @returns {Scanned}
 */
function scanRow(text, start, delimiter) {
  const limit = Math.min(text.length, start + MAX_ROW + 1);
  const refuse = (/** @type {string} */ bad, /** @type {number} */ end, whole = true) => ({
    ...{ cells: [], bad, end, whole },
  });
  const cells = [];
  for (let at = start, many = false; ; ) {
    const cell = scanCell(text, at, limit, delimiter);
    const long = cell.end - start > MAX_ROW;
    if (cell.torn || (long && cell.brk > 0)) return refuse(OPEN_QUOTE, cell.brk);
    if (long) return refuse(LONG_ROW, lineEnd(text, cell.end));
    if (cell.open) return refuse(OPEN_QUOTE, cell.brk || text.length, false);
    if (cells.length < MAX_CELLS) cells.push(cell.text);
    else many = true;
    if (text[cell.end] !== delimiter) {
      const whole = cell.end < text.length;
      return many ? refuse(MANY_CELLS, cell.end, whole) : { cells, bad: "", end: cell.end, whole };
    }
    at = cell.end + 1;
  }
}

/**
 * A cell, without its quotation marks. It is torn if it goes on after them in another
 * line: most likely a mark is missing. brk is the first line end within the marks.
 * @param {string} text
 * @param {number} start
 * @param {number} limit
 * @param {string} delimiter
 */
function scanCell(text, start, limit, delimiter) {
  let at = start;
  let brk = 0;
  let closed = false; // the last quotation mark closed the cell
  while (text[at] === '"' && at < limit) {
    at++;
    closed = false;
    for (; at < limit && text[at] !== '"'; at++) {
      if (brk === 0 && (text[at] === "\n" || text[at] === "\r")) brk = at;
    }
    if (at < limit) {
      at++;
      closed = true;
    } else break;
  }
  const open = at > start && !closed;
  if (open) return { text: "", end: at, brk, torn: false, open };
  if (closed && (at === limit || ends(text[at], delimiter))) {
    return {
      text: text.slice(start + 1, at - 1).replaceAll('""', '"'),
      end: at,
      brk,
      torn: false,
      open,
    };
  }
  if (closed && brk > 0) return { text: "", end: at, brk, torn: true, open };
  while (at < limit && !ends(text[at], delimiter)) at++;
  return { text: text.slice(start, at), end: at, brk, torn: false, open };
}

/** @param {string | undefined} c @param {string} delimiter */
const ends = (c, delimiter) => c === delimiter || c === "\n" || c === "\r";

/**
 * The rows after the header, each as wide as the table.
 * @param {string} text
 * @param {Layout} layout
 * @param {boolean} wide whether the text was UTF-16
 * @returns {{ names: string[] | null, width: number, rows: Row[] }}
 */
function rowsOf(text, { delimiter, header, column, width, skip }, wide) {
  /** @type {string[] | null} */
  let names = null;
  /** @type {Row[]} */
  const rows = [];
  let before = skip + (header ? 1 : 0);
  for (const { cells, bad } of scan(text, delimiter)) {
    if (before > 0 && !bad) {
      if (isBlank(cells)) continue; // blank rows before the header are dropped
      before--;
      if (header && before === 0) names = cells.map(repaired);
      continue;
    }
    width ||= cells.length;
    rows.push(rowOf(cells, bad, width, delimiter === "" ? -1 : column, wide));
  }
  return { names, width, rows };
}

/** @param {string} text */
const repaired = (text) => text.replaceAll(GARBLED, "\ufffd");

/**
 * @param {string[]} cells
 * @param {string} bad
 * @param {number} width
 * @param {number} column -1 for text, where white space is part of the address
 * @param {boolean} wide
 * @returns {Row}
 */
function rowOf(cells, bad, width, column, wide) {
  const fail = (/** @type {string} */ message, code = "BAD_LINE") => ({
    cells: cells.map(repaired),
    address: "",
    failure: { code, message },
  });
  if (bad) return fail(bad);
  if (cells.some((cell) => cell.includes(GARBLED)))
    return fail(
      "the line is not UTF-8, as the input before it is; if all of it is in another encoding, give that with --encoding, else save it as UTF-8",
    );
  while (cells.length > width && cells.at(-1) === "") cells.pop();
  if (cells.length > width)
    return fail(
      `the row has ${cells.length} columns instead of ${width}: a cell with a separator in it needs quotation marks`,
    );
  if (cells.length <= column && !isBlank(cells))
    return fail(
      `the row ends after column ${cells.length}, and the address is in column ${column + 1}`,
    );
  while (cells.length < width) cells.push("");
  const address = column < 0 ? (cells[0] ?? "") : trim(cells[column] ?? "");
  if (trim(address) === "") return fail("the row has no address", "NO_ADDRESS");
  if (address.includes("\0")) return fail("a NUL byte in the address: this is not text");
  if (wide && address.includes("\ufffd"))
    return fail("the address is not well-formed UTF-16: half of a surrogate pair");
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
