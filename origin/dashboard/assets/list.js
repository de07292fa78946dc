/** One list: a file, how to read it, and what was done of it in this browser. */

import { AccountChecker, OfflineChecker } from "./checkers.js";
import { FileLayout, ResultLayout } from "./layout.js";
import { Recent } from "./recent.js";
import { nothingDone, Run } from "./run.js";
import { hashOf } from "./survey.js";
import { addressOf, rowsOf } from "./table.js";

/** @typedef {import("./answer.js").Answer} Answer */
/** @typedef {import("./list-store.js").Saved} Saved */
/** @typedef {import("./list-store.js").Store} Store */
/** @typedef {import("./table.js").Choice} Choice */

const ID_BYTES = 64 << 10;

/**
 * Returns what names a file: its name, size and beginning.
 * @param {File} file
 */
export async function idOf(file) {
  const bytes = new Uint8Array(await file.slice(0, ID_BYTES).arrayBuffer());
  const text = new TextDecoder("windows-1252").decode(bytes); // one character a byte
  return `${file.name}/${file.size}/${hashOf(text).toString(36)}`;
}

/** A random string of 128 bits. */
export function newRun() {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) =>
    byte.toString(16).padStart(2, "0"),
  ).join("");
}

export class List {
  saved;
  #store;
  #file;
  /** @type {Run | null} */
  #run = null;
  #ending = new AbortController();

  /**
   * @param {Store} store
   * @param {File} file
   * @param {Saved} saved
   */
  constructor(store, file, saved) {
    this.#store = store;
    this.#file = file;
    this.saved = saved;
  }

  /** The delimiter of the result; a text file becomes CSV. */
  get #style() {
    return { delimiter: this.saved.choice.delimiter || ",", protect: this.saved.protect };
  }

  /** Ends the run after the batches under way. */
  stop() {
    this.#run?.stop();
    this.#ending.abort(new DOMException("stopped", "AbortError"));
  }

  /**
   * Checks what is left of the list, or of the present pass.
   * @param {{ url: string, token: string, module: () => Promise<{ check(email: string): object }> }} by
   * @param {(saved: Saved) => void} onProgress
   */
  async check(by, onProgress) {
    const { saved } = this;
    const style = this.#style;
    this.#ending = new AbortController();
    const layout =
      saved.pass === 1
        ? new FileLayout(saved.choice, saved.survey.width, style)
        : new ResultLayout(saved.survey.width);
    const checker = saved.offline
      ? new OfflineChecker(await by.module(), style)
      : new AccountChecker(
          { url: by.url, token: by.token, run: `${saved.run}-${saved.pass}` },
          style,
          this.#ending.signal,
        );
    this.#run = new Run({
      file: saved.pass === 1 ? this.#file : await this.result(saved.pass - 1),
      choice: saved.pass === 1 ? saved.choice : this.#resultChoice,
      layout,
      style,
      newline: saved.newline,
      from: saved.done,
      checker,
      recent: await this.#remembered(),
      save: (part, done) => this.#save(part, done),
      onProgress: (done) => onProgress({ ...saved, done }),
    });
    await this.#run.work();
    saved.finished = true;
    await this.#store.save(saved);
    if (saved.pass > 1) await this.#store.drop(saved.id, saved.pass - 1);
  }

  /** Begins a pass that checks the failed rows of the finished one again. */
  async again() {
    this.saved = {
      ...this.saved,
      pass: this.saved.pass + 1,
      parts: 0,
      finished: false,
      done: { ...nothingDone(), points: this.saved.done.points },
    };
    await this.#store.save(this.saved);
  }

  /**
   * Returns what a pass has written up to now.
   * @param {number} pass
   */
  async result(pass = this.saved.pass) {
    return new Blob(await this.#store.parts(this.saved.id, pass), {
      type: "text/csv;charset=utf-8",
    });
  }

  /** How our result is read. @returns {Choice} */
  get #resultChoice() {
    return {
      encoding: "utf-8",
      delimiter: this.#style.delimiter,
      header: true,
      column: this.saved.choice.column,
    };
  }

  /** Returns the answers that are already written, so that duplicates of them cost nothing. */
  async #remembered() {
    /** @type {Recent<string, Answer>} */
    const recent = new Recent();
    if (this.saved.done.row === 0) return recent;
    const layout = new ResultLayout(this.saved.survey.width);
    const choice = this.#resultChoice;
    let first = true;
    for await (const { rows } of rowsOf(await this.result(), choice)) {
      for (const row of rows) {
        if (!first) recent.set(addressOf(row, choice), layout.answer(row));
        first = false;
      }
    }
    return recent;
  }

  /**
   * @param {string} part
   * @param {import("./run.js").Done} done
   */
  async #save(part, done) {
    if (part === "") return;
    const mark = this.saved.mark && this.saved.parts === 0 ? "\ufeff" : "";
    const next = { ...this.saved, done, parts: this.saved.parts + 1, changed: Date.now() };
    await this.#store.save(next, new Blob([mark, part]));
    Object.assign(this.saved, next);
  }
}
