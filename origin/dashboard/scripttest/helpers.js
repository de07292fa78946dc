/** What the tests of the scripts share. */

import { CsvReader } from "../assets/csv-reader.js";

/**
 * Returns all rows of a text, which is given in pieces of a size.
 * @param {string} text
 * @param {string} delimiter
 * @param {number} size
 */
export function readAll(text, delimiter = ",", size = text.length) {
  const reader = new CsvReader(delimiter);
  const rows = [];
  for (let at = 0; at < text.length; at += size) rows.push(...reader.push(text.slice(at, at + size)));
  rows.push(...reader.end());
  return rows;
}

/**
 * A file of bytes or text, which a browser would hand out in chunks of a size.
 * @param {string | Uint8Array<ArrayBuffer>} content
 * @param {string} name
 * @param {number} [size]
 */
export function fileOf(content, name = "list.csv", size) {
  const file = new File([content], name);
  if (size) file.stream = () => chunks(file, size);
  return file;
}

/**
 * @param {Blob} file
 * @param {number} size
 * @returns {ReadableStream<Uint8Array<ArrayBuffer>>}
 */
function chunks(file, size) {
  let at = 0;
  return new ReadableStream({
    async pull(controller) {
      if (at >= file.size) return controller.close();
      controller.enqueue(new Uint8Array(await file.slice(at, at + size).arrayBuffer()));
      at += size;
    },
  });
}

/** A clock that jumps over waiting. */
export class FakeClock {
  time = 0;
  /** @type {number[]} */
  slept = [];
  now = () => this.time;
  /**
   * @param {number} ms
   * @param {AbortSignal} signal
   */
  sleep = async (ms, signal) => {
    signal.throwIfAborted();
    this.slept.push(ms);
    this.time += ms;
  };
}
