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
  402: (body) => body.success === false && isObject(body.error) && typeof body.error.code === "string",
  429: (body) => body.status === 429 && typeof body.detail === "string",
  500: (body) => body.status === 500 && body.code === "INTERNAL_ERROR",
  503: (body) => body.status === 503 && body.code === "REQUEST_CANCELLED",
};

type Usage = Readonly<Record<string, string>>;

const SECONDS = /^[1-9][0-9]{0,8}$/;

/**
 * The refusal as an answer to the caller; undefined for any other response.
 * Every 503 has a Retry-After. A 429 has one only if the origin sent it: when
 * the month's points are used up, clients would wait for days.
 */
export function refusalOf(response: Response, body: string, usage?: Usage): Answer | undefined {
  const { status, headers } = response;
  if (!isJSON(headers.get("Content-Type") ?? "") || !isRefusal(status, body)) return undefined;
  const wait = headers.get("Retry-After") ?? "";
  const retryAfter = SECONDS.test(wait) ? wait : status === 503 ? "1" : undefined;
  return { status, body, headers: { ...usage, "Retry-After": retryAfter } };
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

/**
 * The account's points: used this month, allowed, in overage; undefined if the
 * headers are missing or malformed.
 */
export function usageOf(headers: Headers): Usage | undefined {
  const current = headers.get("X-Usage-Current") ?? "";
  const limit = headers.get("X-Usage-Limit") ?? "";
  if (!/^\d{1,19}$/.test(current) || !/^(?:\d{1,19}|unlimited)$/.test(limit)) return undefined;
  const overage = headers.get("X-Usage-Overage") === "true" ? { "X-Usage-Overage": "true" } : {};
  return { "X-Usage-Current": current, "X-Usage-Limit": limit, ...overage };
}
