/**
 * Checks batches of addresses through the account. A request that failed is sent
 * again with the same Idempotency-Key, so that it is paid for once.
 */

import { Pace } from "./pace.js";
import { hashOf } from "./survey.js";

/** @typedef {import("./clock.js").Clock} Clock */

/** The most addresses of a request, and the most characters of them: the API's limits. */
export const BATCH = 64;
export const BATCH_LENGTH = 128 << 10;

/** How often a request is sent that gets no answer, or 503. */
const ATTEMPTS = 8;
const MAX_WAIT = 30_000; // milliseconds between two attempts

/**
 * Why a run stops before its end: "points", "sign-in", "network", "refused" or
 * "stopped", with a sentence that says what to do.
 */
export class Halt extends Error {
  /**
   * @param {string} reason
   * @param {string} sentence
   */
  constructor(reason, sentence) {
    super(sentence);
    this.reason = reason;
  }
}

/**
 * A batch item, as the API writes it.
 * @typedef {{ email: string, status: "success", result: Record<string, unknown>, error: null }
 *   | { email: string, status: "error", result: null, error: { code: string, message: string } }} Item
 */

export class Batches {
  #options;
  #pace;

  /**
   * @param {object} options
   * @param {string} options.url where batches are sent
   * @param {string} options.token of forms
   * @param {string} options.run a random string; requests with the same run and addresses are the same
   * @param {Clock} options.clock
   * @param {AbortSignal} options.signal ends waiting, not a request that was sent
   * @param {(url: string, init: RequestInit) => Promise<Response>} options.send
   */
  constructor(options) {
    this.#options = options;
    this.#pace = new Pace(options.clock);
  }

  /** How many requests may be under way. Until the rate is known, one. */
  get concurrency() {
    return this.#pace.known ? 4 : 1;
  }

  /**
   * Returns the item of each address.
   * @param {string[]} addresses at most BATCH different ones
   * @returns {Promise<Map<string, Item>>}
   */
  async check(addresses) {
    /** @type {Map<string, Item>} */
    const items = new Map();
    for (
      let missing = addresses;
      missing.length > 0;
      missing = missing.filter((a) => !items.has(a))
    ) {
      const before = items.size;
      const answer = await this.#post(missing);
      for (const item of answer.results) items.set(item.email, item);
      if (items.size === before)
        throw new Halt("refused", "The service answered without results. Resume to try again.");
    }
    return items;
  }

  /**
   * Sends a batch until it is answered.
   * @param {string[]} emails
   * @returns {Promise<{ results: Item[] }>}
   */
  async #post(emails) {
    const body = JSON.stringify({ emails });
    const headers = {
      "Content-Type": "application/json",
      Accept: "application/json",
      "Idempotency-Key": this.#key(body),
      "X-Form-Token": this.#options.token,
    };
    for (let attempt = 1; ; attempt++) {
      await this.#pace.turn(this.#options.signal);
      const response = await this.#send({ method: "POST", body, headers });
      if (response) this.#pace.learn(response);
      if (response?.status === 200) return await response.json();
      const wait = await this.#refused(response, attempt);
      await this.#options.clock.sleep(wait, this.#options.signal);
    }
  }

  /**
   * Returns the answer; null if there is none.
   * @param {RequestInit} request
   */
  async #send(request) {
    try {
      return await this.#options.send(this.#options.url, {
        ...request,
        credentials: "same-origin",
        redirect: "error",
      });
    } catch {
      return null;
    }
  }

  /**
   * Returns how many milliseconds to wait before the next attempt; throws a Halt
   * if there is none.
   * @param {Response | null} response
   * @param {number} attempt
   */
  async #refused(response, attempt) {
    const seconds = Number(response?.headers.get("Retry-After") ?? 0);
    if (response?.status === 429 && seconds > 0) {
      this.#pace.hold(seconds); // for all requests; being over the rate is no failure
      return 0;
    }
    const again =
      response === null
      || response.status === 409
      || response.status >= 500
      || (response.status === 401 && attempt === 1); // the service may have replaced its own key
    if (!again) throw await haltOf(response);
    if (attempt >= ATTEMPTS) {
      throw new Halt(
        "network",
        response === null
          ? "The service cannot be reached. Check your connection, then resume."
          : `The service could not answer (status ${response.status}). Resume later.`,
      );
    }
    return Math.max(1000 * seconds, Math.min(MAX_WAIT, 500 * 2 ** attempt));
  }

  /**
   * Returns the Idempotency-Key of a body. It follows from the run and the body,
   * so a list that goes on after a crash sends the same key again and gets the
   * stored answer at no cost.
   * @param {string} body
   */
  #key(body) {
    return `${this.#options.run}-${hashOf(body).toString(36)}`;
  }
}

/**
 * Returns why no further attempt makes sense.
 * @param {Response} response
 */
async function haltOf(response) {
  const body = await response.json().catch(() => ({}));
  const message = body.error?.message ?? body.error ?? body.detail ?? `status ${response.status}`;
  switch (response.status) {
    case 402:
      return new Halt("points", pointsSentence(body.error ?? body));
    case 429: // without Retry-After: the month's points are used up
      return new Halt("points", pointsSentence({}));
    case 401:
      return new Halt(
        "sign-in",
        "You are signed out. Sign in again in another tab, load this page again and choose the same file: it goes on where it stopped.",
      );
    case 403:
      return new Halt(
        "sign-in",
        "This page is out of date. Load it again and choose the same file: it goes on where it stopped.",
      );
    default:
      return new Halt("refused", `The service refused a batch: ${message}`);
  }
}

/** @param {{ remaining?: number, required?: number }} details */
function pointsSentence({ remaining, required }) {
  const left =
    remaining === undefined ? "" : ` ${remaining} are left and the next batch needs ${required}.`;
  return `Your account has too few points.${left} What is checked is kept; resume when there are points again.`;
}
