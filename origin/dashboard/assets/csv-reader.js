/**
 * Reads CSV (RFC 4180) row by row, from text that comes in pieces. Every row is
 * kept as it was written, because it is given back that way.
 *
 * It is our own, because Papa Parse, the best kept library, parses a row again with
 * each piece while a quote is open: one missing quote costs quadratic time and the
 * memory of the whole file. It also has no bound for a row and reports no line.
 *
 * Beyond the RFC: any of LF, CRLF and CR ends a row; rows may have different
 * numbers of cells; a cell that goes on after its closing quote is taken
 * literally, since "john smith"@example.org is an address.
 */

import { ListProblem } from "./list-problem.js";

/** The longest row in UTF-16 code units, and the most cells of one. */
export const MAX_ROW = 1 << 20;
export const MAX_CELLS = 1000;

/**
 * A row: its cells without quotes, the text as written without the line break,
 * where each cell ends in that text, and the line where it begins.
 * @typedef {{ cells: string[], raw: string, ends: number[], line: number }} Row
 */

const QUOTE = 0x22;
const LF = 0x0a;
const CR = 0x0d;

/** Where the reader is in a cell. */
const START = 0;
const BARE = 1;
const QUOTED = 2;
const CLOSED = 3;

export class CsvReader {
  /** The line that is read at the moment, from 1. */
  line = 1;

  #delimiter;
  #text = ""; // from the beginning of the present row
  #at = 0;
  #cellStart = 0;
  #mode = START;
  #rowLine = 1;
  #quoteLine = 1;
  /** @type {string[]} */
  #cells = [];
  /** @type {number[]} */
  #ends = [];

  /** @param {string} delimiter one character; "" for one cell a line, without quotes */
  constructor(delimiter) {
    this.#delimiter = delimiter;
  }

  /**
   * Returns the rows that text completes.
   * @param {string} text
   * @returns {Row[]}
   */
  push(text) {
    this.#text += text;
    return this.#scan(false);
  }

  /** Returns the last row, if the file does not end with a line break. */
  end() {
    const rows = this.#scan(true);
    if (this.#mode === QUOTED) throw this.#unclosed("the file ends");
    if (this.#text.length > 0 || this.#cells.length > 0) {
      this.#endCell(this.#text.length, 0);
      rows.push(this.#endRow(this.#text.length, 0));
    }
    return rows;
  }

  /**
   * Reads on to the end of the text; if more may follow, a CR at its end waits.
   * @param {boolean} last
   */
  #scan(last) {
    const text = this.#text;
    const rows = [];
    let rowStart = 0;
    let i = this.#at;
    for (; i < text.length; i++) {
      const c = text.charCodeAt(i);
      if (c !== LF && c !== CR) {
        this.#step(c, i, rowStart);
        continue;
      }
      if (c === CR && i + 1 === text.length && !last) break;
      const next = c === CR && text.charCodeAt(i + 1) === LF ? i + 1 : i;
      this.line++;
      if (this.#mode !== QUOTED) {
        this.#endCell(i, rowStart);
        rows.push(this.#endRow(i, rowStart));
        rowStart = next + 1;
        this.#cellStart = rowStart;
      }
      i = next;
    }
    this.#keep(rowStart, i);
    return rows;
  }

  /**
   * Takes a character that is no line break.
   * @param {number} c
   * @param {number} i
   * @param {number} rowStart
   */
  #step(c, i, rowStart) {
    const special = this.#delimiter !== "" && (c === QUOTE || c === this.#delimiter.charCodeAt(0));
    if (this.#mode === QUOTED) {
      if (c === QUOTE) this.#mode = CLOSED;
    } else if (!special) {
      this.#mode = BARE;
    } else if (c !== QUOTE) {
      this.#endCell(i, rowStart);
      this.#cellStart = i + 1;
    } else if (this.#mode !== BARE) {
      if (this.#mode === START) this.#quoteLine = this.line;
      this.#mode = QUOTED; // it opens, or the quote before it was doubled
    }
  }

  /**
   * @param {number} i
   * @param {number} rowStart
   */
  #endCell(i, rowStart) {
    const cell = this.#text.slice(this.#cellStart, i);
    this.#cells.push(this.#mode === CLOSED ? cell.slice(1, -1).replaceAll('""', '"') : cell);
    this.#ends.push(i - rowStart);
    this.#mode = START;
    if (this.#cells.length > MAX_CELLS) {
      throw new ListProblem(
        "cells",
        `This row has more than ${MAX_CELLS.toLocaleString("en")} columns. Is the separator right?`,
        this.#rowLine,
      );
    }
  }

  /**
   * @param {number} i
   * @param {number} rowStart
   * @returns {Row}
   */
  #endRow(i, rowStart) {
    this.#limit(i - rowStart);
    const row = {
      cells: this.#cells,
      raw: this.#text.slice(rowStart, i),
      ends: this.#ends,
      line: this.#rowLine,
    };
    this.#cells = [];
    this.#ends = [];
    this.#rowLine = this.line;
    return row;
  }

  /**
   * Forgets the rows before rowStart.
   * @param {number} rowStart
   * @param {number} i
   */
  #keep(rowStart, i) {
    this.#text = this.#text.slice(rowStart);
    this.#at = i - rowStart;
    this.#cellStart -= rowStart;
    this.#limit(this.#text.length);
  }

  /** @param {number} length of the present row */
  #limit(length) {
    if (length <= MAX_ROW) return;
    if (this.#mode === QUOTED) throw this.#unclosed("a mebibyte has passed");
    throw new ListProblem(
      "row",
      "This row is longer than 1 MiB. Is this a list of addresses?",
      this.#rowLine,
    );
  }

  /** @param {string} when */
  #unclosed(when) {
    return new ListProblem(
      "quote",
      `A quotation mark opens a cell here, and ${when} before it is closed. Is one missing? If marks have no meaning in your file, read it as text.`,
      this.#quoteLine,
    );
  }
}
