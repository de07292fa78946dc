/** A client of the HTTP API: the part `addrspec/client` of the package. */

import type { Batch, CheckOptions, ClientOptions, Item, Usage } from "./api-client.d.ts";

const BATCH = 64; // addresses, by the API
const BODY = 1 << 20; // bytes
const TIMEOUT_MS = 30_000; // for a response; the service takes 10 s for a batch at most
const RETRIED = [409, 429, 500, 503];

export class ApiError extends Error {
  override readonly name: string = "ApiError";
  readonly status: number;
  readonly code: string | null;
  readonly requestId: string | null;

  constructor(
    sentence: string,
    response?: { status: number; headers?: Headers },
    code: unknown = null,
    options?: ErrorOptions,
  ) {
    super(sentence, options);
    this.status = response?.status ?? 0;
    this.code = typeof code === "string" ? code : null;
    this.requestId = response?.headers?.get("X-Request-Id") ?? null;
  }
}

export class PointsUsedUp extends ApiError {
  override readonly name = "PointsUsedUp";
}

export class Client {
  readonly #url: string;
  readonly #key: string;
  readonly #maxWaitMS: number;
  readonly #concurrency: number;
  #paused = 0; // no request is sent before this time: the account's rate is used up

  constructor(url: string | URL, key: string, options: ClientOptions = {}) {
    const { protocol, search, hash, href } = new URL(url);
    if (!/^https?:$/.test(protocol) || search || hash) {
      throw new TypeError('url must be that of the service, such as "https://addrspec.example"');
    }
    if (!/^[!-~]+$/.test(key)) {
      throw new TypeError("key must be an API key, without spaces and line breaks");
    }
    this.#url = href.replace(/\/+$/, "");
    this.#key = key;
    this.#maxWaitMS = 1000 * (options.maxWait ?? 60);
    this.#concurrency = options.concurrency ?? 4;
  }

  async check(email: string, options: CheckOptions = {}): Promise<Item> {
    const { value } = await this.checkMany([email], options).next();
    return value as Item;
  }

  async *checkMany(
    emails: Iterable<string> | AsyncIterable<string>,
    options: CheckOptions = {},
  ): AsyncGenerator<Item, void, void> {
    const stop = new AbortController(); // ends the batches in progress when the caller stops early
    const signal = options.signal ? AbortSignal.any([options.signal, stop.signal]) : stop.signal;
    const running: Promise<Item[]>[] = [];
    try {
      for await (const batch of batches(emails)) {
        const items = this.#batch(batch, { ...options, signal });
        items.catch(() => {}); // it is thrown in its turn
        running.push(items);
        if (running.length >= this.#concurrency) yield* (await running.shift()) ?? [];
      }
      while (running.length > 0) yield* (await running.shift()) ?? [];
    } finally {
      stop.abort();
    }
  }

  usage({ signal }: { signal?: AbortSignal } = {}): Promise<Usage> {
    return this.#ask("/v1/usage", {}, signal);
  }

  /** Checks a batch. After a partial response only what is missing is sent. */
  async #batch(emails: string[], { details, policy, signal }: CheckOptions): Promise<Item[]> {
    const found = new Map<string, Item>();
    const end = performance.now() + this.#maxWaitMS;
    for (let missing = [...new Set(emails)]; missing.length > 0; ) {
      const headers = {
        "Content-Type": "application/json",
        "Idempotency-Key": crypto.randomUUID(),
      };
      const body = JSON.stringify({ emails: missing, details, policy });
      const batch: Batch = await this.#ask("/v1/emails", { method: "POST", headers, body }, signal);
      for (const item of batch.results) found.set(item.email, item);
      const before = missing.length;
      missing = missing.filter((email) => !found.has(email));
      if (missing.length < before) continue;
      // As from a service that has just started to stop.
      if (performance.now() + 1000 > end) {
        throw new ApiError("the service did not check the addresses in time", { status: 200 });
      }
      await sleep(1000, signal);
    }
    return emails.map((email) => found.get(email) as Item);
  }

  #pause(ms: number) {
    this.#paused = performance.now() + Math.min(ms, this.#maxWaitMS);
  }

  /** Sends a request until it has a result. */
  async #ask<Result>(path: string, init: RequestInit, signal?: AbortSignal): Promise<Result> {
    const end = performance.now() + this.#maxWaitMS;
    for (let attempt = 0; ; attempt++) {
      await sleep(this.#paused - performance.now(), signal);
      let wait = 1000 * Math.random() * 2 ** Math.min(attempt, 5); // so that clients do not return together
      let error: ApiError;
      try {
        const response = await this.#send(path, init, signal);
        const spent = /"rate";r=0;t=(\d+)/.exec(response.headers.get("RateLimit") ?? "");
        if (spent) this.#pause(1000 * Number(spent[1]));
        const text = await response.text();
        if (response.status === 200) return JSON.parse(text);
        error = errorOf(response, text);
        if (!RETRIED.includes(response.status) || error instanceof PointsUsedUp) throw error;
        const seconds = response.headers.get("Retry-After") ?? "";
        if (/^\d+$/.test(seconds)) {
          wait = 1000 * Number(seconds) + 100 * Math.random();
          if (response.status === 429) this.#pause(wait);
        }
      } catch (cause) {
        signal?.throwIfAborted();
        if (cause instanceof ApiError) throw cause;
        error = new ApiError(
          "the service did not respond, or its response was cut off",
          undefined,
          null,
          { cause },
        );
      }
      if (performance.now() + wait > end) throw error;
      await sleep(wait, signal);
    }
  }

  /** Follows no redirect: the key is for this service alone. */
  #send(path: string, init: RequestInit, signal?: AbortSignal): Promise<Response> {
    const timeout = AbortSignal.timeout(TIMEOUT_MS);
    return fetch(this.#url + path, {
      ...init,
      headers: { ...init.headers, "X-API-Key": this.#key },
      redirect: "manual",
      signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
    });
  }
}

async function* batches(emails: Iterable<string> | AsyncIterable<string>) {
  if (typeof emails === "string") {
    throw new TypeError("emails must be addresses, not one"); // each letter would be paid
  }
  let batch: string[] = [];
  let size = 256; // of the body around them
  for await (const given of emails) {
    if (typeof given !== "string") throw new TypeError("an address must be a string");
    const email = given.toWellFormed(); // half of a surrogate pair is no text
    const more = 3 * JSON.stringify(email).length; // bytes of UTF-8, at most
    if (batch.length > 0 && (batch.length === BATCH || size + more > BODY)) {
      yield batch;
      batch = [];
      size = 256;
    }
    batch.push(email);
    size += more;
  }
  if (batch.length > 0) yield batch;
}

/** Returns the error of a response, of which the API has three shapes. */
function errorOf(response: Response, text: string): ApiError {
  let values: { error?: unknown; detail?: unknown; code?: unknown } = {};
  try {
    values = Object(JSON.parse(text));
  } catch {
    // not one of the service
  }
  const inner = Object(values.error);
  const sentence = inner.message ?? values.detail ?? values.error;
  const spent =
    response.status === 402
    || (response.status === 429 && values.detail && !response.headers.has("Retry-After"));
  return new (spent ? PointsUsedUp : ApiError)(
    typeof sentence === "string"
      ? sentence
      : `the response has status ${response.status}, and is not one of the service`,
    response,
    inner.code ?? values.code,
  );
}

function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const end = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", end);
      resolve();
    }, ms);
    signal?.addEventListener("abort", end, { once: true });
  });
}
