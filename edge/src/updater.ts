/**
 * Keeps the lists of a worker fresh. Each isolate or process updates its own
 * lists: at its start, and then after each interval. An update never delays a
 * request, and if it fails the lists remain as they are.
 */

import type { Engine } from "./engine.ts";
import { type Feed, fetchUpdate, type Update } from "./feed.ts";
import { ListsRefused } from "./instance.ts";
import { ListsError } from "./lists-error.ts";
import type { Log } from "./origin.ts";
import type { Fetch } from "./response.ts";
import type { Release } from "./signed-lists.ts";
import { withTimeout } from "./timeout.ts";

/** What an updater needs; tests replace the clock and chance. */
export interface UpdaterOptions {
  readonly engine: Engine;
  readonly feed: Feed;
  readonly intervalMS: number;
  readonly fetch: Fetch;
  readonly log: Log;
  readonly now?: () => number;
  readonly random?: () => number;
}

/** An update may take as long as the interval, within these; Cloudflare ends it after 30 s. */
const MIN_TIMEOUT_MS = 5_000;
const MAX_TIMEOUT_MS = 25_000;

/** The part of the interval by which it varies, so that isolates do not ask at the same time. */
const JITTER = 0.1;

/** The wait after the first failure; it doubles with each one, up to the interval. */
const FIRST_RETRY_MS = 60_000;

export class Updater {
  readonly #options: Required<UpdaterOptions>;
  /** The lists that this updater installed, or found in use. */
  #installed: Release | undefined;
  #due = 0;
  /** An update is in progress until then; not a boolean, because a platform may abandon it. */
  #busyUntil = 0;
  #lastFailure = "";
  #failures = 0;

  constructor(options: UpdaterOptions) {
    this.#options = { now: Date.now, random: Math.random, ...options };
  }

  /** Returns the milliseconds until the next update is due. */
  get delay(): number {
    return Math.max(0, this.#due - this.#options.now());
  }

  /** Starts an update if one is due; waitUntil gets the promise, which never rejects. */
  poll(waitUntil: (update: Promise<unknown>) => void): void {
    if (this.delay === 0 && !this.#busy()) waitUntil(this.update());
  }

  /**
   * Updates the lists, unless an update is in progress. Returns why it failed, or
   * undefined; never rejects. stop ends it without a result.
   */
  async update(stop = new AbortController().signal): Promise<string | undefined> {
    if (this.#busy()) return undefined;
    this.#busyUntil = this.#options.now() + 2 * this.#timeoutMS;
    try {
      this.#install(await this.#fetch(stop));
      return this.#finish("");
    } catch (error) {
      return stop.aborted ? undefined : this.#finish(reasonOf(error));
    }
  }

  get #timeoutMS(): number {
    return Math.min(MAX_TIMEOUT_MS, Math.max(MIN_TIMEOUT_MS, this.#options.intervalMS));
  }

  #busy(): boolean {
    return this.#options.now() < this.#busyUntil;
  }

  #fetch(stop: AbortSignal): Promise<Update> {
    const { engine, feed, fetch, now } = this.#options;
    const { lists: version } = engine.versions();
    const signed = this.#installed?.version === version ? this.#installed.signed : undefined;
    return withTimeout(this.#timeoutMS, stop, (signal) =>
      fetchUpdate(feed, { version, signed }, { fetch, signal, now: now() }),
    );
  }

  #install({ release, blob }: Update): void {
    const { engine, log } = this.#options;
    if (blob !== undefined) {
      const before = engine.versions().lists;
      engine.setLists(blob);
      log(`lists: updated from ${before} to ${release.version}`);
    }
    this.#installed = release;
  }

  /** Plans the next update, and logs a failure if it is another one than the last time. */
  #finish(failure: string): string | undefined {
    const { now, random, log } = this.#options;
    this.#failures = failure === "" ? 0 : this.#failures + 1;
    this.#due = now() + Math.round(this.#wait() * (1 - JITTER + 2 * JITTER * random()));
    this.#busyUntil = 0;
    if (failure !== "" && failure !== this.#lastFailure) {
      log(`lists: not updated, the current ones remain in use: ${failure}`);
    }
    this.#lastFailure = failure;
    return failure === "" ? undefined : failure;
  }

  #wait(): number {
    const { intervalMS } = this.#options;
    if (this.#failures === 0) return intervalMS;
    return Math.min(intervalMS, FIRST_RETRY_MS * 2 ** (this.#failures - 1));
  }
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return "a defect";
  if (error instanceof ListsError || error instanceof ListsRefused) return error.message;
  return error.name === "TimeoutError"
    ? "the feed did not respond in time"
    : `a defect (${error.name})`;
}

type Timer = ReturnType<typeof setTimeout>;

/**
 * Updates now and whenever an update is due, until the caller calls the returned
 * function. unref makes a timer that does not keep the process running.
 */
export function keepFresh(updater: Updater, unref: (timer: Timer) => void): () => void {
  const stopping = new AbortController();
  let timer: Timer;
  const schedule = () => {
    if (stopping.signal.aborted) return;
    timer = setTimeout(() => void updater.update(stopping.signal).then(schedule), updater.delay);
    unref(timer);
  };
  schedule();
  return () => {
    stopping.abort();
    clearTimeout(timer);
  };
}
