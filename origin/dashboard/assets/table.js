/** How a file is to be read: what we guess, and the rows of a choice. */

import { CsvReader } from "./csv-reader.js";
import { detectEncoding, textOf } from "./encoding.js";
import { ListProblem } from "./list-problem.js";

/** @typedef {import("./csv-reader.js").Row} Row */
/** @typedef {import("./encoding.js").Encoding} Encoding */

/**
 * How to read a file. The delimiter "" means text: one address a line.
 * @typedef {{ encoding: Encoding, delimiter: string, header: boolean, column: number }} Choice
 */

/**
 * What the beginning of a file looks like.
 * @typedef {{ choice: Choice, mark: boolean, newline: string, sample: string[][] }} Peek
 */

const PEEK_BYTES = 64 << 10;
const PEEK_ROWS = 100;
const PAUSE_MS = 50;
const DELIMITERS = [",", ";", "\t", "|"];

/**
 * Guesses how to read a file from its beginning; what is given is not guessed.
 * @param {File} file
 * @param {Partial<Choice>} given
 * @returns {Promise<Peek>}
 */
export async function peek(file, given = {}) {
  if (file.size === 0) throw new ListProblem("empty", "The file is empty.");
  const bytes = new Uint8Array(await file.slice(0, PEEK_BYTES).arrayBuffer());
  const { encoding, mark } = detectEncoding(bytes);
  const chosen = given.encoding ?? encoding;
  const text = new TextDecoder(chosen).decode(bytes, { stream: true });
  const whole = bytes.length === file.size;
  const delimiter = given.delimiter ?? guessDelimiter(text, whole, file.name);
  const sample = beginning(text, whole, delimiter).map((row) => row.cells);
  const column = given.column ?? guessColumn(sample);
  const header = given.header ?? guessHeader(sample, column);
  return {
    choice: { encoding: chosen, delimiter, header, column },
    mark,
    newline: newlineOf(text),
    sample,
  };
}

/**
 * Reads all rows of a file, some at a time.
 * @param {Blob} file
 * @param {Choice} choice
 * @returns {AsyncGenerator<{ rows: Row[], read: number }>}
 */
export async function* rowsOf(file, choice) {
  const reader = new CsvReader(choice.delimiter);
  let paused = performance.now();
  try {
    for await (const { text, read } of textOf(file, choice.encoding)) {
      yield { rows: reader.push(text), read };
      if (performance.now() - paused < PAUSE_MS) continue;
      await new Promise((resolve) => setTimeout(resolve)); // a worker gets its messages, such as "stop", only between tasks
      paused = performance.now();
    }
    yield { rows: reader.end(), read: file.size };
  } catch (error) {
    if (error instanceof ListProblem) error.line ??= reader.line;
    throw error;
  }
}

/**
 * Returns the address of a row, without surrounding white space.
 * @param {Row} row
 * @param {Choice} choice
 */
export function addressOf(row, choice) {
  return (row.cells[choice.column] ?? "").trim();
}

/**
 * @param {string} text
 * @param {boolean} whole
 * @param {string} delimiter
 * @returns {Row[]}
 */
function beginning(text, whole, delimiter) {
  const reader = new CsvReader(delimiter);
  try {
    const rows = reader.push(text);
    if (whole) rows.push(...reader.end());
    return rows.slice(0, PEEK_ROWS);
  } catch {
    return []; // reading the whole file reports the problem with its line
  }
}

/**
 * Returns the delimiter that gives most rows the same number of cells, more than
 * one.
 * @param {string} text
 * @param {boolean} whole
 * @param {string} name
 */
function guessDelimiter(text, whole, name) {
  let best = { delimiter: /\.csv$/i.test(name) ? "," : "", score: 0.6 };
  for (const delimiter of DELIMITERS) {
    const score = regularity(beginning(text, whole, delimiter));
    if (score > best.score) best = { delimiter, score };
  }
  return best.delimiter;
}

/** @param {Row[]} rows */
function regularity(rows) {
  const filled = rows.filter((row) => row.raw !== "");
  const width = filled[0]?.cells.length ?? 1;
  return width === 1
    ? 0
    : filled.filter((row) => row.cells.length === width).length / filled.length;
}

/** @param {string[][]} sample */
function guessColumn(sample) {
  const votes = new Map();
  for (const cells of sample) {
    for (const [n, cell] of cells.entries()) {
      if (cell.includes("@")) votes.set(n, (votes.get(n) ?? 0) + 1);
    }
  }
  for (const [n, cell] of (sample[0] ?? []).entries()) {
    if (/e-?mail/i.test(cell)) votes.set(n, (votes.get(n) ?? 0) + 0.5);
  }
  return [...votes].reduce((best, vote) => (vote[1] > best[1] ? vote : best), [0, 0])[0];
}

/**
 * The first row is a header if it has no address where later rows have some.
 * @param {string[][]} sample
 * @param {number} column
 */
function guessHeader(sample, column) {
  const isAddress = (/** @type {string[]} */ cells) => cells[column]?.includes("@") ?? false;
  const [first, ...rest] = sample;
  return first !== undefined && !isAddress(first) && rest.some(isAddress);
}

/** @param {string} text */
function newlineOf(text) {
  return ["\r\n", "\n", "\r"].find((newline) => text.includes(newline)) ?? "\n";
}
