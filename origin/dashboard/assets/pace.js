/**
 * Keeps requests to the account's rate. The rate is learned from the header
 * RateLimit-Policy (draft-ietf-httpapi-ratelimit-headers) of every answer; until the first one, a request a second may begin.
 */

/** @typedef {import("./clock.js").Clock} Clock */

/** Requests begin this much slower than the rate, because their arrival varies. */
const SLACK = 1.05;

export class Pace {
  #clock;
  #gap = 1000; // milliseconds between two beginnings
  #next = 0; // when the next request may begin
  #heldUntil = 0;
  #known = false;

  /** @param {Clock} clock */
  constructor(clock) {
    this.#clock = clock;
  }

  /** Whether an answer has given the rate. */
  get known() {
    return this.#known;
  }

  /**
   * Waits until the next request may begin. Requests begin in the order of calls.
   * @param {AbortSignal} signal
   */
  async turn(signal) {
    const begin = Math.max(this.#next, this.#clock.now());
    this.#next = begin + this.#gap;
    for (let wait = this.#wait(begin); wait > 0; wait = this.#wait(begin))
      await this.#clock.sleep(wait, signal);
  }

  /** @param {number} begin */
  #wait(begin) {
    return Math.max(begin, this.#heldUntil) - this.#clock.now();
  }

  /**
   * Lets no request begin for some seconds.
   * @param {number} seconds
   */
  hold(seconds) {
    this.#heldUntil = Math.max(this.#heldUntil, this.#clock.now() + 1000 * seconds);
    this.#next = Math.max(this.#next, this.#heldUntil);
  }

  /**
   * Takes the rate from an answer. An account without a limit has no such header.
   * @param {Response} response
   */
  learn({ status, headers }) {
    const policy = headers.get("RateLimit-Policy");
    if (policy === null && status !== 200) return;
    const rate = Number(/"rate";q=(\d+);w=1/.exec(policy ?? "")?.[1] ?? Infinity);
    const gap = (1000 * SLACK) / Math.max(rate, 1);
    if (gap < this.#gap) this.#next = Math.min(this.#next, this.#clock.now() + gap);
    this.#gap = gap;
    this.#known = true;
  }
}
