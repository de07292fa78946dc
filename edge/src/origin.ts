/**
 * Calls POST /v1/edge/admit at the origin (origin/api/edge.go), which checks the
 * key and the rate, looks up MX records and charges, in one round trip. The
 * worker sends domains and counts, and no address. Every failure becomes the
 * contract's 503.
 *
 * A single validation asks for a brief reply, whose headers say all: to read 29 bytes
 * of a body takes a seventh of a request's processor time in workerd.
 */

import { isJSON, readAll } from "./body.ts";
import type { Config } from "./config.ts";
import { CHECKSUM_AT } from "./key.ts";
import type { Lookup, MX, Plan } from "./plan.ts";
import { problemResponse, unavailable } from "./problem.ts";
import type { Fetch, WorkerResponse } from "./response.ts";
import { withTimeout } from "./timeout.ts";

/**
 * The origin's decision: the lookups of the domains; that the origin must get the client's
 * request whole; or the problem as a response to the client.
 */
export type Admission =
  | { readonly lookups: readonly Lookup[]; readonly keyHeaders: KeyHeaders }
  | "forward"
  | { readonly problem: WorkerResponse };

/** What an admission needs of the client's request. */
export interface RequestContext {
  readonly key: string;
  readonly id: string;
  /** The header Origin, which a browser adds; null without one. */
  readonly pageOrigin: string | null;
  /** Aborted when the client has disconnected; null if the platform then ends the request itself. */
  readonly signal: AbortSignal | null;
}

/** Logs a line, which must not contain an address or a key. */
export type Log = (message: string) => void;

/** More than any reply of the origin, which has less than 1 KiB for each of 64 lookups. */
const MAX_REPLY = 128 << 10;

/** How long a key is remembered whose requests are forwarded, and how many keys are. */
const REMEMBERED_MS = 60_000;
const MAX_REMEMBERED = 1024;

/** Headers of every 200 and 204 of the endpoint; another service would not send them. */
const REQUIRED = ["X-Usage-Current", "X-Usage-Limit"];

const decoder = new TextDecoder();

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

  /** Asks the origin to admit the plan; never rejects. */
  async admit(plan: Plan, context: RequestContext): Promise<Admission> {
    try {
      return await withTimeout(this.#config.timeoutMS, context.signal, async (signal) => {
        const url = `${this.#config.origin}/v1/edge/admit`;
        const response = await this.#fetch(url, this.#request(plan, context, signal));
        if (response.headers.get("X-Edge-MX") !== "forward") return this.#admission(plan, response);
        this.#remember(context.key);
        return "forward";
      });
    } catch (error) {
      if (!context.signal?.aborted) this.#log(`origin: ${describe(error)}`);
      return unavailableAdmission();
    }
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

  #request(
    plan: Plan,
    { key, id, pageOrigin }: RequestContext,
    signal: AbortSignal | null,
  ): RequestInit {
    const headers = {
      "Content-Type": "application/json",
      "X-Edge-Secret": this.#config.secret,
      "X-API-Key": key,
      "X-Request-Id": id,
      ...(pageOrigin === null ? {} : { Origin: pageOrigin }),
    };
    const brief = mayBeBrief(plan) || undefined;
    const { operation, points, tally, domains, details } = plan;
    const body = JSON.stringify({ operation, points, tally, domains, details, brief });
    return { method: "POST", headers, body, redirect: "manual", signal };
  }

  async #admission(plan: Plan, response: Response): Promise<Admission> {
    const keyHeaders = keyHeadersOf(response.headers);
    const isOurs = REQUIRED.every((name) => name in keyHeaders);
    const brief = isOurs ? briefMX(plan, response) : undefined;
    if (brief !== undefined) return { lookups: [{ mx: brief }], keyHeaders };
    const body = decoder.decode(await readAll(response, MAX_REPLY));
    const lookups = isOurs && response.status === 200 ? lookupsOf(plan, body) : undefined;
    if (lookups !== undefined) return { lookups, keyHeaders };
    const passed = problemOf(response, body, keyHeaders);
    if (passed !== undefined) return { problem: passed };
    const hint = HINTS[response.status] ?? "";
    this.#log(`origin: unexpected response to /v1/edge/admit, status ${response.status}${hint}`);
    return unavailableAdmission();
  }
}

const HINTS: Readonly<Record<number, string>> = {
  403: "; ADDRSPEC_EDGE_SECRET is not the origin's --edge-secret",
  404: "; is the origin started with --edge-secret?",
  200: "; is another service at ADDRSPEC_ORIGIN?",
};

function unavailableAdmission(): Admission {
  return { problem: problemResponse(unavailable()) };
}

/** Reports whether the reply to a plan fits in a header. */
function mayBeBrief({ operation, domains, details }: Plan): boolean {
  return operation === "single" && domains.length === 1 && details === undefined;
}

/** Returns the MX in the header of a brief reply; undefined if it is not one. */
function briefMX(plan: Plan, { status, headers }: Response): boolean | undefined {
  if (status !== 204 || !mayBeBrief(plan)) return undefined;
  const mx = headers.get("X-Edge-MX");
  return mx === "true" || mx === "false" ? mx === "true" : undefined;
}

/** Returns the lookup of each domain; undefined unless the body has a valid one for each. */
function lookupsOf(plan: Plan, body: string): Lookup[] | undefined {
  const { mx, disposable, exchange } = objectIn(body);
  const isMX = (entry: unknown) =>
    typeof entry === "boolean"
    || (plan.operation === "batch"
      && (entry === null || entry === "DNS_TIMEOUT" || entry === "DNS_FAILURE"));
  const isFlag = (entry: unknown) => typeof entry === "boolean";
  const isValue = (entry: unknown) => typeof entry === "object" && !Array.isArray(entry);
  const count = plan.domains.length;
  if (!isListOf(mx, count, isMX)) return undefined;
  if (disposable !== undefined && !isListOf(disposable, count, isFlag)) return undefined;
  if (exchange !== undefined && !isListOf(exchange, count, isValue)) return undefined;
  return mx.map((entry, n) => ({
    mx: entry as MX,
    disposable: disposable?.[n] === true,
    // The origin's bytes: their strings need no escape, and no number is in them.
    exchange: exchange?.[n] == null ? undefined : JSON.stringify(exchange[n]),
  }));
}

function isListOf(
  list: unknown,
  length: number,
  isValid: (entry: unknown) => boolean,
): list is unknown[] {
  return Array.isArray(list) && list.length === length && list.every(isValid);
}

/** Returns the object of a JSON text; an empty one if there is none. */
function objectIn(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : {};
  } catch {
    return {};
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}

/**
 * The problems that are passed to the client, each with a test of its shape. 400, 403, 413
 * and 415 mean that the worker's own request was wrong. 409 and 422 need an Idempotency-Key,
 * and requests with one are forwarded unchanged.
 */
const PASSED: Readonly<Record<number, (body: Record<string, unknown>) => boolean>> = {
  401: (body) => body.status === 401 && body.code === "INVALID_API_KEY",
  402: (body) =>
    body.success === false && isObject(body.error) && typeof body.error.code === "string",
  429: (body) => body.status === 429 && typeof body.detail === "string",
  500: (body) => body.status === 500 && body.code === "INTERNAL_ERROR",
  503: (body) => body.status === 503 && body.code === "REQUEST_CANCELLED",
};

const COUNT = /^\d{1,19}$/;
const VISIBLE = /^[\x20-\x7e]{1,256}$/;

/**
 * The headers with the account's points and rate, and those that let pages of the
 * key's browser origins read the response, with the values that may be passed.
 */
const KEY_HEADERS: Readonly<Record<string, RegExp>> = {
  "X-Usage-Current": COUNT,
  "X-Usage-Limit": /^(?:\d{1,19}|unlimited)$/,
  "X-Usage-Overage": /^true$/,
  // Lists of RFC 9651 (draft-ietf-httpapi-ratelimit-headers).
  RateLimit: VISIBLE,
  "RateLimit-Policy": VISIBLE,
  "Access-Control-Allow-Origin": /^https?:\/\/[\x21-\x7e]{1,300}$/,
  "Access-Control-Expose-Headers": VISIBLE,
  Vary: /^Origin$/,
};

const FORMS = Object.entries(KEY_HEADERS);

export const PASSED_KEY_HEADERS = Object.keys(KEY_HEADERS);

export type KeyHeaders = Readonly<Record<string, string>>;

const SECONDS = /^[1-9][0-9]{0,8}$/;

/**
 * Returns the origin's problem as a response to the client; undefined for any
 * other response. Every 503 has a Retry-After. A 429 has one only if the origin
 * sent it: when the month's points are used up, clients would wait for days.
 */
export function problemOf(
  response: Response,
  body: string,
  keyHeaders: KeyHeaders,
): WorkerResponse | undefined {
  const { status, headers } = response;
  if (!isJSON(headers.get("Content-Type")) || !PASSED[status]?.(objectIn(body))) return undefined;
  const wait = headers.get("Retry-After") ?? "";
  const retryAfter = SECONDS.test(wait) ? wait : status === 503 ? "1" : undefined;
  return { status, body, headers: { ...keyHeaders, "Retry-After": retryAfter } };
}

/** Returns those of the key's headers that are well-formed. */
export function keyHeadersOf(headers: Headers): KeyHeaders {
  const passed: Record<string, string> = {};
  for (const [name, form] of FORMS) {
    const value = headers.get(name);
    if (value !== null && form.test(value)) passed[name] = value;
  }
  return passed;
}

/** Returns the kind of the error, without its message, which may quote a URL. */
function describe(error: unknown): string {
  if (!(error instanceof Error)) return "failed";
  if (error.name === "TimeoutError") return "no response within ADDRSPEC_ORIGIN_TIMEOUT_MS";
  return `unreachable (${error.name})`;
}
