/** What checks addresses for a run: the account, or the module in this browser. */

import { answerOf, errorAnswer } from "./answer.js";
import { BATCH, Batches } from "./batches.js";
import { realClock } from "./clock.js";

/** @typedef {import("./answer.js").Answer} Answer */
/** @typedef {import("./csv-writer.js").Style} Style */
/** @typedef {import("./run.js").Checker} Checker */

/**
 * Checks through the account.
 * @implements {Checker}
 */
export class AccountChecker {
  batch = BATCH;
  cost = 1;
  #batches;
  #style;

  /**
   * @param {{ url: string, token: string, run: string }} to
   * @param {Style} style
   * @param {AbortSignal} signal
   */
  constructor(to, style, signal) {
    this.#batches = new Batches({
      ...to,
      signal,
      clock: realClock,
      send: (url, init) => fetch(url, init),
    });
    this.#style = style;
  }

  get concurrency() {
    return this.#batches.concurrency;
  }

  /** @param {string[]} addresses */
  async check(addresses) {
    /** @type {Map<string, Answer>} */
    const answers = new Map();
    for (const [email, item] of await this.#batches.check(addresses)) {
      answers.set(
        email,
        item.status === "success"
          ? answerOf(item.result, this.#style, true)
          : errorAnswer(email, item.error.code, this.#style),
      );
    }
    return answers;
  }
}

/**
 * Checks with the module, at no cost and without MX.
 * @implements {Checker}
 */
export class OfflineChecker {
  batch = 64;
  concurrency = 1;
  cost = 0;
  #module;
  #style;

  /**
   * @param {{ check(email: string): object }} module
   * @param {Style} style
   */
  constructor(module, style) {
    this.#module = module;
    this.#style = style;
  }

  /** @param {string[]} addresses */
  async check(addresses) {
    /** @type {Map<string, Answer>} */
    const answers = new Map();
    for (const email of addresses) {
      const facts = /** @type {Record<string, unknown>} */ (this.#module.check(email));
      answers.set(email, answerOf(facts, this.#style, false));
    }
    return answers;
  }
}
