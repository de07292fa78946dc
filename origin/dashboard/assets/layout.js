/** What a row of the result consists of: the cells of the file, then our columns. */

import { outcomeOf } from "./answer.js";
import { columnNames, writeCell, writeCells } from "./csv-writer.js";

/** @typedef {import("./answer.js").Answer} Answer */
/** @typedef {import("./csv-reader.js").Row} Row */
/** @typedef {import("./csv-writer.js").Style} Style */
/** @typedef {import("./table.js").Choice} Choice */

/**
 * Rows of a file as it was chosen. They get back what they had, byte for byte
 * unless the encoding changes; short rows are filled up, so that our columns are
 * below each other.
 */
export class FileLayout {
  #choice;
  #width;
  #style;

  /**
   * @param {Choice} choice
   * @param {number} width the most cells of a row
   * @param {Style} style
   */
  constructor(choice, width, style) {
    this.#choice = choice;
    this.#width = width;
    this.#style = style;
  }

  /**
   * Returns the header of the result.
   * @param {Row | null} row the header of the file
   */
  header(row) {
    const names = columnNames(row?.cells ?? []).join(this.#style.delimiter);
    return (row ? this.original(row) : this.original(this.#invented())) + names;
  }

  /**
   * Returns the cells of the file, and the delimiter before ours.
   * @param {Row} row
   */
  original({ raw, cells }) {
    const { delimiter } = this.#style;
    // The file is text: its lines become cells.
    const written =
      this.#choice.delimiter === "" ? writeCell(raw, { delimiter, protect: false }) : raw;
    return written + delimiter.repeat(this.#width - cells.length + 1);
  }

  /** @returns {Answer | null} */
  finished() {
    return null;
  }

  /** Names for the columns of a file without a header. @returns {Row} */
  #invented() {
    const cells = Array.from({ length: this.#width }, (_, n) =>
      this.#width === 1 ? "address" : `column ${n + 1}`,
    );
    return { cells, raw: writeCells(cells, this.#style), ends: [], line: 0 };
  }
}

/** Rows of a result of ours, of which those that failed are checked again. */
export class ResultLayout {
  #width;

  /** @param {number} width cells of the file before our columns */
  constructor(width) {
    this.#width = width;
  }

  /** @param {Row | null} row */
  header(row) {
    return row?.raw ?? "";
  }

  /** @param {Row} row */
  original({ raw, ends }) {
    return raw.slice(0, (ends[this.#width - 1] ?? 0) + 1);
  }

  /**
   * Returns our columns of a row that need not be checked again.
   * @param {Row} row
   * @returns {Answer | null}
   */
  finished(row) {
    const answer = this.answer(row);
    return answer.outcome === "failed" ? null : answer;
  }

  /**
   * @param {Row} row
   * @returns {Answer}
   */
  answer({ raw, ends, cells }) {
    const text = raw.slice((ends[this.#width - 1] ?? 0) + 1);
    return { text: copyOf(text), outcome: outcomeOf(cells.slice(this.#width)) };
  }
}

/**
 * Returns a string that shares no memory with text: V8 keeps the whole chunk of a
 * file for a slice of it.
 * @param {string} text
 */
export function copyOf(text) {
  return ` ${text}`.slice(1);
}
