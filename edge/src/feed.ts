/**
 * Keeps lists fresh from a feed: a directory of any web server with lists.blob and
 * lists.blob.minisig. The signature comes first: it is small, and decides whether
 * the blob is needed. If an update fails, the lists remain as they are.
 */

import { type Fetch, type Log, nameOf, readAll, withTimeout } from "./body.ts";
import type { Engine } from "./engine.ts";
import {
  ListsError,
  MAX_BLOB,
  MAX_SIGNATURE,
  type PublicKey,
  type Release,
  readAnnouncement,
  requireAnnounced,
  requireFresh,
  requireNotOlder,
} from "./signature.ts";

/** Where lists come from. */
export interface Feed {
  /** The URL of the blob; its signature is beside it. */
  readonly blob: URL;
  readonly key: PublicKey;
}

/** Reads the URL of a feed: that of the blob, or of its directory. */
export function parseFeedURL(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const fits = url !== undefined && /^https?:$/.test(url.protocol) && url.hash === "";
  if (!fits || url.username !== "" || url.password !== "") {
    throw new Error(
      "must be the URL of a directory with lists.blob, such as https://lists.example.org/feed/",
    );
  }
  if (!url.pathname.endsWith(".blob"))
    url.pathname = `${url.pathname.replace(/\/$/, "")}/lists.blob`;
  return url;
}

/** What has lists: an engine, or a checker of the package. */
export interface Holder {
  versions(): { readonly lists: string };
  setLists(blob: Uint8Array): void;
}

export interface UpdateOptions {
  readonly fetch: Fetch;
  readonly timeoutMS: number;
  readonly stop: AbortSignal;
  /** In milliseconds. */
  readonly now: number;
}

/** The signed lists that each holder got, or had already. */
const installed = new WeakMap<Holder, Release>();

/**
 * Replaces the lists by those of the feed, unless they are these already. Rejects with a ListsError
 * if there are none to be had.
 */
export async function updateLists(
  holder: Holder,
  { blob: url, key }: Feed,
  { fetch, timeoutMS, stop, now }: UpdateOptions,
): Promise<{ readonly release: Release; readonly updated: boolean }> {
  const { lists: version } = holder.versions();
  const known = installed.get(holder);
  const signed = known?.version === version ? known.signed : undefined;
  const update = withTimeout(timeoutMS, stop, async (signal) => {
    const signatureURL = new URL(url);
    signatureURL.pathname += ".minisig";
    const text = await download(signatureURL, MAX_SIGNATURE, fetch, signal);
    const announcement = await readAnnouncement(new TextDecoder().decode(text), key).catch(
      (error: unknown) => {
        if (!(error instanceof ListsError)) throw error;
        throw new ListsError(`lists.blob.minisig: ${error.message}`);
      },
    );
    const { release } = announcement;
    requireFresh(release, now);
    requireNotOlder(release, { version, signed });
    if (release.version === version) return { release };
    const blob = await download(url, MAX_BLOB, fetch, signal);
    await requireAnnounced(blob, announcement);
    return { release, blob };
  });
  const { release, blob } = await update.catch((error: unknown) => {
    const isLate = nameOf(error) === "TimeoutError";
    throw isLate ? new ListsError("the feed did not respond in time") : error;
  });
  try {
    if (blob !== undefined) holder.setLists(blob);
  } catch (error) {
    // The signature is right; the module checks all else.
    throw new ListsError(error instanceof Error ? error.message : "the module failed");
  }
  installed.set(holder, release);
  return { release, updated: blob !== undefined };
}

async function download(
  url: URL,
  limit: number,
  fetch: Fetch,
  signal: AbortSignal | null,
): Promise<Uint8Array> {
  const refuse = (why: string) =>
    new ListsError(`${url.pathname.slice(url.pathname.lastIndexOf("/") + 1)}: ${why}`);
  try {
    // A cache on the way must ask the feed whether its copy is current.
    const response = await fetch(url.href, { signal, cache: "no-cache" });
    const isDowngraded = url.protocol === "https:" && response.url.startsWith("http:");
    if (response.status !== 200 || isDowngraded) {
      await response.body?.cancel();
      throw refuse(
        isDowngraded
          ? "the feed redirects from https to http"
          : `the feed responded with status ${response.status}`,
      );
    }
    const bytes = await readAll(response, limit);
    if (bytes !== undefined) return bytes;
    throw refuse(`it is larger than ${limit === MAX_BLOB ? "4 MiB" : "4 KiB"}`);
  } catch (error) {
    if (error instanceof ListsError) throw error;
    throw refuse(`the feed cannot be reached (${nameOf(error)})`);
  }
}

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
export const MAX_TIMEOUT_MS = 25_000;
/** The part of the interval by which it varies, so that isolates do not ask at the same time. */
const JITTER = 0.1;
/** The wait after the first failure; it doubles with each one, up to the interval. */
const FIRST_RETRY_MS = 60_000;

/**
 * Keeps the lists of a worker fresh. Each isolate or process updates its own lists: at its start,
 * and then after each interval. An update never delays a request.
 */
export class Updater {
  readonly #options: Required<UpdaterOptions>;
  readonly #timeoutMS: number;
  #due = 0;
  /** An update is in progress until then; not a boolean, because a platform may abandon it. */
  #busyUntil = 0;
  #lastFailure = "";
  #failures = 0;

  constructor(options: UpdaterOptions) {
    this.#options = { now: Date.now, random: Math.random, ...options };
    this.#timeoutMS = Math.min(MAX_TIMEOUT_MS, Math.max(MIN_TIMEOUT_MS, options.intervalMS));
  }

  /** Returns the milliseconds until the next update is due. */
  get delay(): number {
    return Math.max(0, this.#due - this.#options.now());
  }

  /** Starts an update if one is due; waitUntil gets the promise, which never rejects. */
  poll(waitUntil: (update: Promise<unknown>) => void): void {
    if (this.delay === 0 && !this.#isBusy()) waitUntil(this.update());
  }

  /**
   * Updates the lists, unless an update is in progress. Returns why it failed, or
   * undefined; never rejects. stop ends it without a result.
   */
  async update(stop = new AbortController().signal): Promise<string | undefined> {
    if (this.#isBusy()) return undefined;
    const { engine, feed, fetch, log, now } = this.#options;
    const timeoutMS = this.#timeoutMS;
    this.#busyUntil = now() + 2 * timeoutMS;
    try {
      const before = engine.versions().lists;
      const options = { fetch, timeoutMS, stop, now: now() };
      const { release, updated } = await updateLists(engine, feed, options);
      if (updated) log(`lists: updated from ${before} to ${release.version}`);
      return this.#finish("");
    } catch (error) {
      if (stop.aborted) return undefined;
      return this.#finish(
        error instanceof ListsError ? error.message : `a defect (${nameOf(error)})`,
      );
    }
  }

  #isBusy(): boolean {
    return this.#options.now() < this.#busyUntil;
  }

  /** Plans the next update, and logs a failure if it is another one than the last time. */
  #finish(failure: string): string | undefined {
    const { intervalMS, now, random, log } = this.#options;
    this.#failures = failure === "" ? 0 : this.#failures + 1;
    const retry = FIRST_RETRY_MS * 2 ** (this.#failures - 1);
    const wait = failure === "" ? intervalMS : Math.min(intervalMS, retry);
    this.#due = now() + Math.round(wait * (1 - JITTER + 2 * JITTER * random()));
    this.#busyUntil = 0;
    if (failure !== "" && failure !== this.#lastFailure)
      log(`lists: not updated, the current ones remain in use: ${failure}`);
    this.#lastFailure = failure;
    return failure || undefined;
  }
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
