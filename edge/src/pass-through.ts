/** Selects what of the origin's reply to an admission is passed to the client. */

import { isJSON } from "./body.ts";
import type { WorkerResponse } from "./response.ts";

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
  if (!isJSON(headers.get("Content-Type")) || !isPassed(status, body)) return undefined;
  const wait = headers.get("Retry-After") ?? "";
  const retryAfter = SECONDS.test(wait) ? wait : status === 503 ? "1" : undefined;
  return { status, body, headers: { ...keyHeaders, "Retry-After": retryAfter } };
}

function isPassed(status: number, body: string): boolean {
  try {
    const value: unknown = JSON.parse(body);
    return isObject(value) && PASSED[status]?.(value) === true;
  } catch {
    return false;
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
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
