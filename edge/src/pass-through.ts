/** Recognizes the origin's refusals that are answers to the caller. */

import type { Answer } from "./answer.ts";
import { isJSON } from "./media-type.ts";

/**
 * The refusals that pass through the edge, each with a test of its shape. 400,
 * 413, 415 and 403 answer the worker itself, which sent a wrong request; 409
 * and 422 need an Idempotency-Key, and such requests are forwarded whole.
 */
const REFUSALS: Readonly<Record<number, (body: Record<string, unknown>) => boolean>> = {
  401: (body) => body.status === 401 && body.code === "INVALID_API_KEY",
  402: (body) =>
    body.success === false && isObject(body.error) && typeof body.error.code === "string",
  429: (body) => body.status === 429 && typeof body.detail === "string",
  500: (body) => body.status === 500 && body.code === "INTERNAL_ERROR",
  503: (body) => body.status === 503 && body.code === "REQUEST_CANCELLED",
};

const COUNT = /^\d{1,19}$/;
const VISIBLE = /^[\x20-\x7e]{1,256}$/;

/** The headers about the account's points and rate, and the values of each that the caller may get. */
const LIMIT_HEADERS: Readonly<Record<string, RegExp>> = {
  "X-Usage-Current": COUNT,
  "X-Usage-Limit": /^(?:\d{1,19}|unlimited)$/,
  "X-Usage-Overage": /^true$/,
  // Lists of RFC 9651 (draft-ietf-httpapi-ratelimit-headers).
  RateLimit: VISIBLE,
  "RateLimit-Policy": VISIBLE,
};

export const LIMITS = Object.keys(LIMIT_HEADERS);

export type Limits = Readonly<Record<string, string>>;

const SECONDS = /^[1-9][0-9]{0,8}$/;

/**
 * The refusal as an answer to the caller; undefined for any other response.
 * Every 503 has a Retry-After. A 429 has one only if the origin sent it: when
 * the month's points are used up, clients would wait for days.
 */
export function refusalOf(response: Response, body: string, limits: Limits): Answer | undefined {
  const { status, headers } = response;
  if (!isJSON(headers.get("Content-Type")) || !isRefusal(status, body)) return undefined;
  const wait = headers.get("Retry-After") ?? "";
  const retryAfter = SECONDS.test(wait) ? wait : status === 503 ? "1" : undefined;
  return { status, body, headers: { ...limits, "Retry-After": retryAfter } };
}

function isRefusal(status: number, body: string): boolean {
  try {
    const value: unknown = JSON.parse(body);
    return isObject(value) && REFUSALS[status]?.(value) === true;
  } catch {
    return false;
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}

/** The account's points and rate, as far as the headers have them well-formed. */
export function limitsOf(headers: Headers): Limits {
  const values = LIMITS.map((name) => [name, headers.get(name) ?? ""] as const);
  return Object.fromEntries(values.filter(([name, value]) => LIMIT_HEADERS[name]?.test(value)));
}
