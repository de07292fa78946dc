/**
 * Calls the origin. POST /v1/edge/admit (origin/api/edge.go) checks the key and the rate, looks up
 * MX records and charges, in one round trip; the worker sends domains and counts, and no address.
 * All that the worker does not do by itself is forwarded. Every failure becomes the contract's 503.
 */

import { type Fetch, isJSON, type Log, nameOf, readAll, withTimeout } from "./body.ts";
import type { Config } from "./config.ts";
import { CHECKSUM_AT } from "./key.ts";
import type { Lookup, Plan } from "./plan.ts";
import { problemResponse, UNAVAILABLE, type WorkerResponse } from "./response.ts";
import type { Route } from "./route.ts";

/** A request, as it was sent. */
export interface RawRequest {
  readonly method: string;
  /** The path and the query, neither decoded nor normalized. */
  readonly target: string;
  readonly headers: Headers;
  readonly body: ReadableStream<Uint8Array> | null;
  /** Aborted when the client has disconnected; null if the platform then ends the request itself. */
  readonly signal: AbortSignal | null;
  readonly proto: string;
}

export type IdentifiedRequest = RawRequest & { readonly id: string };

/** A request for the origin; the target is the origin's. */
export type ForwardedRequest = Omit<IdentifiedRequest, "body"> & {
  readonly body: Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array> | null;
};

/**
 * The origin's decision: the lookups of the domains; that the origin must get the client's
 * request whole; or the problem as a response to the client.
 */
export type Admission =
  | { readonly lookups: readonly Lookup[]; readonly headers: Record<string, string> }
  | "forward"
  | { readonly problem: WorkerResponse };

const ADMIT = "/v1/edge/admit";

/** More than any reply to an admission, which has less than 1 KiB for each of 64 lookups. */
const MAX_REPLY = 128 << 10;
/** More than any response to a batch: 64 results, with the addresses of a body of 1 MiB. */
const MAX_RESPONSE = 32 << 20;

/** How long a key is remembered whose requests are forwarded, and how many keys are. */
const REMEMBERED_MS = 60_000;
const MAX_REMEMBERED = 1024;

/** The statuses of an admission's problems that the client gets; the others are the worker's. */
const PROBLEMS = new Set([401, 402, 429, 500, 503]);
/** The statuses of an operation's responses; no other is passed to the client. */
const STATUSES = new Set([200, 400, 401, 402, 409, 413, 415, 422, 429, 500, 503]);
/** Those where the origin knows which hooks, or which methods of an assistant, exist. */
const ORIGIN_STATUSES = new Set([...STATUSES, 404, 405]);
/** The status of the response to an assistant's message that gets none; it has no body. */
const ACCEPTED = 202;

/** The headers about the key: points, rate, and what lets pages read the response. */
const KEY_HEADERS = [
  "X-Usage-Current",
  "X-Usage-Limit",
  "X-Usage-Overage",
  "RateLimit",
  "RateLimit-Policy",
  "Access-Control-Allow-Origin",
  "Access-Control-Expose-Headers",
  "Vary",
];
/** The headers of a forwarded operation's response that are passed to the client. */
const PASSED_HEADERS = [
  "Retry-After",
  "Allow",
  "Idempotency-Replayed",
  "WWW-Authenticate",
  ...KEY_HEADERS,
];

/** Headers of one hop (RFC 9110 section 7.6.1), which are not passed on. */
const HOP_HEADERS = [
  "connection",
  "keep-alive",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
  "proxy-authenticate",
  "proxy-authorization",
  "proxy-connection",
];
/** Request headers that the worker or fetch sets, which also decodes the response. */
const OWN_HEADERS = [
  "host",
  "content-length",
  "expect",
  "accept-encoding",
  "x-edge-secret",
  "forwarded",
  "x-forwarded-for",
];

export class Origin {
  readonly #config: Config;
  readonly #fetch: Fetch;
  readonly #log: Log;
  /** When each remembered key is forgotten, by its checksum; the oldest key is the first. */
  readonly #forwarded = new Map<string, number>();

  constructor(config: Config, fetch: Fetch, log: Log) {
    this.#config = config;
    this.#fetch = fetch;
    this.#log = log;
  }

  /** Asks the origin to admit the plan of a request with this key; never rejects. */
  async admit(
    plan: Plan,
    key: string,
    { id, headers, signal }: IdentifiedRequest,
  ): Promise<Admission> {
    const { operation, points, tally, domains, details } = plan;
    // The headers of a brief reply say all: to read 29 bytes of a body takes a seventh of a
    // request's processor time in workerd.
    const brief = (operation === "single" && domains.length === 1 && !details) || undefined;
    const pageOrigin = headers.get("Origin"); // which a browser adds
    const init = {
      method: "POST",
      headers: {
        "Content-Type": "application/json",
        "X-Edge-Secret": this.#config.secret,
        "X-API-Key": key,
        "X-Request-Id": id,
        ...(pageOrigin === null ? {} : { Origin: pageOrigin }),
      },
      body: JSON.stringify({ operation, points, tally, domains, details, brief }),
    };
    const admission = await this.#call(ADMIT, init, signal, (response) =>
      admissionOf(plan, response, brief),
    );
    if (admission === "forward") this.#remember(key);
    return admission ?? { problem: problemResponse(UNAVAILABLE) };
  }

  /**
   * Reports whether the origin has said in the last minute that it must get the requests with the
   * key whole. Then asking again would cost a round trip. Every request may be forwarded, so
   * responses are right also if the key has lost its policy or shares its checksum with another.
   */
  forwards(key: string): boolean {
    return Date.now() < (this.#forwarded.get(key.slice(CHECKSUM_AT)) ?? 0);
  }

  #remember(key: string): void {
    const checksum = key.slice(CHECKSUM_AT);
    this.#forwarded.delete(checksum);
    this.#forwarded.set(checksum, Date.now() + REMEMBERED_MS);
    const [oldest] = this.#forwarded.keys();
    if (this.#forwarded.size > MAX_REMEMBERED) this.#forwarded.delete(oldest as string);
  }

  /** Forwards an operation of a kind; never rejects. */
  async forward(request: ForwardedRequest, to: Route["to"]): Promise<WorkerResponse> {
    const response = await this.#forward(request, (given) => readResponse(given, to));
    return response ?? problemResponse(UNAVAILABLE);
  }

  /** Forwards a request for a page, and streams the response; undefined if there is none. */
  page(request: ForwardedRequest): Promise<Response | undefined> {
    return this.#forward(request, async (response) => {
      const headers = without(response.headers, HOP_HEADERS);
      if (headers.has("Content-Encoding")) {
        // fetch has already decoded the body.
        headers.delete("Content-Encoding");
        headers.delete("Content-Length");
      }
      return new Response(response.body, { status: response.status, headers });
    });
  }

  /** Reports whether fetch sends the target unchanged; its URL parser may rewrite it. */
  keeps(target: string): boolean {
    const url = this.#config.origin + target;
    return !target.includes("#") && URL.canParse(url) && new URL(url).href === url;
  }

  #forward<T>(
    { method, target, headers: given, body, id, proto, signal }: ForwardedRequest,
    read: (response: Response) => Promise<T | undefined>,
  ): Promise<T | undefined> {
    const headers = without(given, [...HOP_HEADERS, ...OWN_HEADERS]);
    headers.set("X-Request-Id", id);
    headers.set("X-Forwarded-Proto", proto);
    headers.set("X-Forwarded-Host", given.get("Host") ?? "");
    // Node's fetch requires duplex with a streamed body.
    const init: RequestInit & { duplex: "half" } = { method, headers, body, duplex: "half" };
    return this.#call(target, init, signal, read);
  }

  /**
   * Sends a request and returns what read makes of the response; undefined, and a line in the log
   * without the target, if there is none in time or read returns undefined. A redirect is left to
   * the client.
   */
  async #call<T>(
    target: string,
    init: RequestInit,
    client: AbortSignal | null,
    read: (response: Response) => Promise<T | undefined>,
  ): Promise<T | undefined> {
    const { origin, timeoutMS } = this.#config;
    try {
      return await withTimeout(timeoutMS, client, async (signal) => {
        const url = origin + target;
        const response = await this.#fetch(url, { ...init, redirect: "manual", signal });
        const used = await read(response);
        if (used === undefined) {
          const { status } = response;
          const hint = (target === ADMIT && HINTS[status]) || "";
          this.#log(`origin: unexpected response, status ${status}${hint}`);
        }
        return used;
      });
    } catch (error) {
      const name = nameOf(error);
      const late = "no response within ADDRSPEC_ORIGIN_TIMEOUT_MS";
      const why = name === "TimeoutError" ? late : `unreachable (${name})`;
      if (!client?.aborted) this.#log(`origin: ${why}`);
      return undefined;
    }
  }
}

const HINTS: Readonly<Record<number, string>> = {
  403: "; ADDRSPEC_EDGE_SECRET is not the origin's --edge-secret",
  404: "; is the origin started with --edge-secret?",
  200: "; is another service at ADDRSPEC_ORIGIN?",
};

/** Reads the reply to an admission; returns undefined if it is none. */
async function admissionOf(
  plan: Plan,
  response: Response,
  brief: boolean | undefined,
): Promise<Admission | undefined> {
  const { status, headers } = response;
  const word = headers.get("X-Edge-MX") ?? "";
  if (word === "forward") return word;
  const keyHeaders = picked(headers, KEY_HEADERS);
  // Another service would not send the account's points.
  const isOurs = /^\d+$/.test(headers.get("X-Usage-Current") ?? "") && headers.has("X-Usage-Limit");
  if (isOurs && brief && status === 204 && /^(?:true|false)$/.test(word))
    return { lookups: [{ mx: word === "true" }], headers: keyHeaders };
  const body = new TextDecoder().decode(await readAll(response, MAX_REPLY));
  const value = parsed(body);
  const reply = isObject(value) ? value : {};
  const lookups = isOurs && status === 200 ? lookupsOf(plan, reply) : undefined;
  if (lookups !== undefined) return { lookups, headers: keyHeaders };
  // 409 and 422 need an Idempotency-Key, and requests with one are forwarded unchanged.
  const isProblem = reply.status === status || (reply.success === false && isObject(reply.error));
  if (!isProblem || !PROBLEMS.has(status) || !isJSON(headers.get("Content-Type"))) return undefined;
  // Every 503 has a Retry-After. A 429 has one only if the origin sent it: when the month's points
  // are used up, clients would wait for days.
  const wait = headers.get("Retry-After") ?? "";
  const isWait = /^[1-9][0-9]{0,8}$/.test(wait);
  const retryAfter = isWait ? wait : status === 503 ? "1" : undefined;
  return { problem: { status, body, headers: { ...keyHeaders, "Retry-After": retryAfter } } };
}

/** Returns the lookup of each domain; undefined unless the reply has a valid one for each. */
function lookupsOf(plan: Plan, reply: Record<string, unknown>): Lookup[] | undefined {
  const count = plan.domains.length;
  const { mx, disposable = Array(count).fill(false), exchange = Array(count).fill(null) } = reply;
  const isList = (list: unknown, isValid: (entry: unknown) => boolean): list is unknown[] =>
    Array.isArray(list) && list.length === count && list.every(isValid);
  const isFlag = (entry: unknown) => typeof entry === "boolean";
  const isMX = (entry: unknown) =>
    isFlag(entry)
    || (plan.operation === "batch"
      && (entry === null || entry === "DNS_TIMEOUT" || entry === "DNS_FAILURE"));
  const isValue = (entry: unknown) => typeof entry === "object" && !Array.isArray(entry);
  if (!isList(mx, isMX) || !isList(disposable, isFlag) || !isList(exchange, isValue))
    return undefined;
  return mx.map((entry, n) => ({
    mx: entry as Lookup["mx"],
    disposable: disposable[n] === true,
    // The origin's bytes: their strings need no escape, and no number is in them.
    exchange: exchange[n] === null ? undefined : JSON.stringify(exchange[n]),
  }));
}

/**
 * Reads the origin's response to a forwarded operation. It reads all of it, so that no
 * truncated response is sent. Returns undefined if the response is not one.
 */
async function readResponse(
  response: Response,
  to: Route["to"],
): Promise<WorkerResponse | undefined> {
  const { status, headers } = response;
  if (to === "mcp" && status === ACCEPTED)
    return (await readAll(response, 0)) && { status, body: "" };
  const statuses = to === "mcp" || to === "hook" ? ORIGIN_STATUSES : STATUSES;
  const body = await readAll(response, MAX_RESPONSE);
  if (!statuses.has(status) || !isJSON(headers.get("Content-Type"))) return undefined;
  if (body === undefined || parsed(new TextDecoder().decode(body)) === undefined) return undefined;
  return { status, body, headers: picked(headers, PASSED_HEADERS) };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}

function picked(headers: Headers, names: readonly string[]): Record<string, string> {
  const all: Record<string, string> = {};
  for (const name of names) {
    const value = headers.get(name);
    if (value !== null) all[name] = value;
  }
  return all;
}

function without(headers: Headers, names: readonly string[]): Headers {
  const kept = new Headers(headers);
  for (const name of names) kept.delete(name);
  return kept;
}
