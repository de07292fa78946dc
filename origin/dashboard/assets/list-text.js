/**
 * Makes text of the bytes of a file. It says what a file is that is no text, and never guesses an
 * encoding, which may falsify letters without a sign.
 */

const SHEET = "save the sheet as CSV UTF-8";
const READS = "or use addrspec check, which reads it";
const EXPORT = "Export the contacts as CSV from the address book";

/** What is no list, by the beginning and end of a file, and what to do. @type {[RegExp, string][]} */
const KINDS = [
  [/^PK\p{Cc}{2}.*opendocument\.spreadsheet/su, `a spreadsheet (.ods). Open it and ${SHEET}`],
  [/^PK\p{Cc}{2}.*xl\//su, `an Excel workbook (.xlsx). In Excel, ${SHEET}, ${READS}`],
  [/^PK\p{Cc}{2}/u, `a ZIP archive. Unpack it; of a spreadsheet (.xlsx, .ods), ${SHEET}`],
  [/^\xd0\xcf\p{Cc}\xe0/u, `an old Excel workbook (.xls) or Office document. Open it and ${SHEET}`],
  [/^%PDF-/, "a PDF document. Export the list as CSV from where it was made"],
  [/^\p{Cc}\x8b/u, `compressed (gzip). Unpack it, ${READS}`],
  [/^\s*BEGIN:VCARD/i, `a list of vCards. ${EXPORT}`],
  [/^(#.*\r?\n|\s)*(version: ?1\s*[\r\n]|dn:)/i, `LDIF. ${EXPORT}`],
  [/^\s*<(!doctype html|html)/i, `a web page (HTML). Open it in a spreadsheet and ${SHEET}`],
  [/^\s*<\?xml/, `XML. Export the list as CSV, or open it in a spreadsheet and ${SHEET}`],
  [/^From .+\r?\n[\w-]+: /, `a mailbox (mbox). ${EXPORT}`],
  [/^(-- \w*SQL|CREATE TABLE|INSERT INTO) /m, "a database dump (SQL). Export the table as CSV"],
  [/^\s*(\{\s*["}]|\[\s*[{"\]])/, "JSON. Check it with the command line, as below"],
];

/** Encodings by their byte order marks. @type {Record<string, string>} */
const MARKS = { "\xef\xbb\xbf": "utf-8", "\xff\xfe": "utf-16le", "\xfe\xff": "utf-16be" };

/** Why a list cannot be read, in a sentence for the page. */
export class ListProblem extends Error {
  /**
   * @param {string} sentence
   * @param {"" | "encoding" | "layout"} choose what another choice may help
   * @param {Uint8Array[]} words that need another encoding
   */
  constructor(sentence, choose = "", words = []) {
    super(sentence);
    this.choose = choose;
    this.words = words;
  }
}

/**
 * A text, whether U+FFFD is in the place of some bytes (lossy), and whether it was marked or is not
 * UTF-8. Where its encoding was chosen, some words show it.
 * @typedef {{ text: string, encoding: string, lossy: boolean, mark: boolean, words: string[] }} Text
 */

/**
 * Decodes a file by its byte order mark, by the encoding that was chosen, or as UTF-8.
 * @param {Uint8Array} bytes
 * @param {string | undefined} given
 * @returns {Text}
 */
export function textOf(bytes, given) {
  const ends = [...bytes.subarray(0, 4096), ...bytes.subarray(-4096)].filter((byte) => byte !== 0);
  const [, mark = "", beginning = ""] =
    /^(\xef\xbb\xbf|\xff\xfe|\xfe\xff)?(.*)/s.exec(String.fromCharCode(...ends)) ?? [];
  const kind = KINDS.find(([pattern]) => pattern.test(beginning));
  if (kind) throw new ListProblem(`This is ${kind[1]}.`);
  const nul = bytes.includes(0);
  const shown = nul ? [bytes.subarray(0, 120)] : wordsOf(bytes);
  const marked = MARKS[mark];
  const encoding = marked ?? given ?? "utf-8";
  const { text, lossy } = decode(bytes, encoding);
  if (!marked && !given && (nul || lossy)) {
    const sentence = nul
      ? "This is not text: it has NUL bytes. If it is UTF-16 without a byte order mark, choose that."
      : "This file is not UTF-8. Which encoding makes these words right?";
    throw new ListProblem(sentence, "encoding", shown);
  }
  return {
    text: text.replace(/^\ufeff/gm, ""), // of files that were joined
    ...{ encoding, lossy, mark: mark !== "" || encoding !== "utf-8" },
    words: given && !marked ? shown.map((word) => decode(word, encoding).text) : [],
  };
}

/** The first five different words that are not ASCII. No encoding has a part of a letter in " ,;. @param {Uint8Array} bytes */
function wordsOf(bytes) {
  const words = new Map();
  let [start, foreign] = [0, false];
  for (let at = 0; at <= bytes.length && words.size < 5; at++) {
    const byte = bytes[at] ?? 10;
    foreign ||= byte > 0x7f;
    if (byte > 0x20 && byte !== 0x22 && byte !== 0x2c && byte !== 0x3b) continue;
    const word = bytes.subarray(start, at);
    if (foreign) words.set(word.join(), word);
    [start, foreign] = [at + 1, false];
  }
  return [...words.values()];
}

/** Decodes; lossy means that U+FFFD is in the place of some bytes. @param {Uint8Array} bytes @param {string} encoding */
export function decode(bytes, encoding) {
  try {
    return { text: new TextDecoder(encoding, { fatal: true }).decode(bytes), lossy: false };
  } catch {
    return { text: new TextDecoder(encoding).decode(bytes), lossy: true };
  }
}
