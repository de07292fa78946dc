/**
 * Checks the addresses of a file in order and writes its rows with our columns.
 *
 * A row waits in a queue until its address is checked, so rows are written in the
 * order of the file. What was written is saved from time to time with the number
 * of rows read for it. Rows after that are read again when the run goes on: after
 * a stop, when points ran out, and after a crash alike.
 *
 * Since rows are written as far as they are known, the first waiting row begins a
 * batch. So after a crash the same batches are made again, and the API answers
 * those that it has already charged from its records.
 */

import { errorAnswer, TOO_LONG } from "./answer.js";
import { BATCH_LENGTH, Halt } from "./batches.js";
import { copyOf } from "./layout.js";
import { MAX_ADDRESS } from "./survey.js";
import { addressOf, rowsOf } from "./table.js";

/** @typedef {import("./answer.js").Answer} Answer */
/** @typedef {import("./csv-reader.js").Row} Row */

/** How many rows may wait, and how much text of them in UTF-16 code units. */
const MAX_WAITING = 20_000;
const MAX_WAITING_LENGTH = 8 << 20;
/** When what was written is saved. */
const SAVE_LENGTH = 1 << 20;
const SAVE_MS = 2000;

/** @typedef {{ valid: number, invalid: number, failed: number, none: number }} Counts */

/**
 * What the run has done: rows read and written (the header is one), their
 * outcomes, and points paid.
 * @typedef {{ row: number, counts: Counts, points: number }} Done
 */

/** @returns {Done} */
export const nothingDone = () => ({
  row: 0,
  counts: { valid: 0, invalid: 0, failed: 0, none: 0 },
  points: 0,
});

/**
 * Checks different addresses, so many at a time.
 * @typedef {object} Checker
 * @property {number} batch
 * @property {number} concurrency how many batches at a time
 * @property {number} cost of an address in points
 * @property {(addresses: string[]) => Promise<Map<string, Answer>>} check
 */

/**
 * @typedef {object} RunOptions
 * @property {Blob} file
 * @property {import("./table.js").Choice} choice
 * @property {import("./layout.js").FileLayout | import("./layout.js").ResultLayout} layout
 * @property {import("./csv-writer.js").Style} style
 * @property {string} newline
 * @property {Done} from what was done before
 * @property {Checker} checker
 * @property {import("./recent.js").Recent<string, Answer>} recent answers by address
 * @property {(part: string, done: Done) => Promise<void>} save
 * @property {(done: Done) => void} onProgress
 */

/** An address, and its answer when it is known. @typedef {{ answer: Answer | null }} Slot */

/** A row that waits, and what its own address costs. @typedef {{ text: string, slot: Slot | null, cost: number }} Entry */

export class Run {
  #options;
  /** @type {Entry[]} rows in order; those before #head are written */
  #queue = [];
  #head = 0;
  #waitingLength = 0;
  /** @type {Map<string, Slot>} addresses that wait for an answer */
  #open = new Map();
  /** @type {string[]} the next batch */
  #batch = [];
  #batchLength = 0;
  /** @type {Set<Promise<void>>} */
  #flying = new Set();
  /** @type {string[]} */
  #written = [];
  #writtenLength = 0;
  #savedAt = performance.now();
  #saving = Promise.resolve();
  #unsaved = false;
  /** @type {unknown} why it ends early */
  #halt = null;
  /** @type {Done} */
  #done;

  /** @param {RunOptions} options */
  constructor(options) {
    this.#options = options;
    this.#done = structuredClone(options.from);
  }

  /** Lets the batches under way finish, then ends the run. */
  stop() {
    this.#halt ??= new Halt("stopped", "Stopped.");
  }

  /** Runs to the end of the file, or throws why it ends early. What was done is saved. */
  async work() {
    try {
      await this.#read();
      if (this.#batch.length > 0) await this.#begin();
    } catch (error) {
      this.#halt ??= error;
    }
    await Promise.all(this.#flying);
    this.#drain();
    this.#save();
    await this.#saving;
    if (this.#halt) throw this.#halt;
    return this.#done;
  }

  async #read() {
    let n = 0;
    for await (const { rows } of rowsOf(this.#options.file, this.#options.choice)) {
      for (const row of rows) {
        if (this.#halt) return;
        if (n++ < this.#options.from.row) continue;
        this.#take(row, n === 1);
        if (this.#batchIsFull() || this.#crowded()) await this.#begin();
      }
      this.#drain();
      await this.#saving;
    }
  }

  /**
   * @param {Row} row
   * @param {boolean} first
   */
  #take(row, first) {
    const { layout, choice, newline, checker } = this.#options;
    if (first && choice.header) {
      this.#enqueue(layout.header(row), null);
      return;
    }
    const header = first ? layout.header(null) + newline : "";
    const answer = layout.finished(row);
    const before = this.#batch.length;
    const slot = answer ? { answer } : this.#slotOf(addressOf(row, choice));
    const isNew = this.#batch.length > before;
    this.#enqueue(header + layout.original(row), slot, isNew ? checker.cost : 0);
  }

  /**
   * @param {string} text
   * @param {Slot | null} slot null for the header
   * @param {number} cost
   */
  #enqueue(text, slot, cost = 0) {
    this.#queue.push({ text, slot, cost });
    this.#waitingLength += text.length;
  }

  /**
   * Returns the slot of an address, which joins the next batch if it is new.
   * @param {string} address
   * @returns {Slot}
   */
  #slotOf(address) {
    const { recent, style } = this.#options;
    if (address === "") return { answer: errorAnswer("", "", style, "none") };
    if (address.length > MAX_ADDRESS)
      return { answer: errorAnswer("", TOO_LONG, style, "invalid") };
    const known = recent.get(address);
    if (known) return { answer: known };
    const waiting = this.#open.get(address);
    if (waiting) return waiting;
    const own = copyOf(address);
    const slot = { answer: null };
    this.#open.set(own, slot);
    this.#batch.push(own);
    this.#batchLength += own.length;
    return slot;
  }

  #batchIsFull() {
    return (
      this.#batch.length >= this.#options.checker.batch
      || this.#batchLength >= BATCH_LENGTH - MAX_ADDRESS
    );
  }

  #crowded() {
    return (
      this.#queue.length - this.#head > MAX_WAITING || this.#waitingLength > MAX_WAITING_LENGTH
    );
  }

  /** Sends the batch when there is room for it, and waits while too many rows wait. */
  async #begin() {
    const { checker } = this.#options;
    while (!this.#halt && this.#flying.size >= checker.concurrency)
      await Promise.race(this.#flying);
    if (!this.#halt && this.#batch.length > 0) this.#dispatch();
    this.#drain();
    while (!this.#halt && this.#crowded() && this.#flying.size > 0) {
      await Promise.race(this.#flying);
      this.#drain();
    }
  }

  #dispatch() {
    const addresses = this.#batch;
    this.#batch = [];
    this.#batchLength = 0;
    const flight = this.#check(addresses)
      .catch((error) => {
        this.#halt ??= error;
      })
      .finally(() => this.#flying.delete(flight));
    this.#flying.add(flight);
  }

  /** @param {string[]} addresses */
  async #check(addresses) {
    const answers = await this.#options.checker.check(addresses);
    for (const address of addresses) {
      const answer = answers.get(address);
      const slot = this.#open.get(address);
      if (!answer || !slot)
        throw new Halt("refused", "The service left out an address. Resume to try again.");
      slot.answer = answer;
      this.#open.delete(address);
      this.#options.recent.set(address, answer);
    }
  }

  /** Writes the rows at the head of the queue whose answers are known. */
  #drain() {
    for (; this.#head < this.#queue.length; this.#head++) {
      const entry = /** @type {Entry} */ (this.#queue[this.#head]);
      if (entry.slot && !entry.slot.answer) break;
      this.#write(entry);
    }
    if (this.#head > 1000) {
      this.#queue = this.#queue.slice(this.#head);
      this.#head = 0;
    }
    this.#options.onProgress(this.#done);
    if (this.#writtenLength > SAVE_LENGTH || performance.now() - this.#savedAt > SAVE_MS)
      this.#save();
  }

  /** @param {Entry} entry */
  #write({ text, slot, cost }) {
    const line = text + (slot?.answer?.text ?? "") + this.#options.newline;
    this.#written.push(line);
    this.#writtenLength += line.length;
    this.#waitingLength -= text.length;
    this.#done.row++;
    this.#done.points += cost; // of rows that are written: an answer from the API's records is not counted twice
    if (slot?.answer) this.#done.counts[slot.answer.outcome]++;
  }

  /** Saves what was written, after what is being saved. */
  #save() {
    const part = this.#written.join("");
    const done = structuredClone(this.#done);
    this.#written = [];
    this.#writtenLength = 0;
    this.#savedAt = performance.now();
    this.#saving = this.#saving.then(async () => {
      if (this.#unsaved) return; // a part is missing, so none may follow it
      try {
        await this.#options.save(part, done);
      } catch (error) {
        this.#unsaved = true;
        this.#halt = new Halt(
          "storage",
          `The result cannot be stored in this browser (${error}). Make room on the disk, then resume: it goes on from what is stored.`,
        );
      }
    });
  }
}
