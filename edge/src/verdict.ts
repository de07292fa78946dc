/** Refusals of the origin that are the caller's answer, told from anything else. */

import type { Answer } from "./answer.ts";
import { isJSON } from "./media-type.ts";

/** The refusals that pass through the edge, each by what marks its shape. */
const REFUSALS: Readonly<Record<number, (body: Record<string, unknown>) => boolean>> = {
  401: (body) => body.status === 401 && body.code === "INVALID_API_KEY",
  402: (body) => body.success === false && typeof body.error === "object",
  429: (body) => body.status === 429 && typeof body.detail === "string",
  500: (body) => body.status === 500 && body.code === "INTERNAL_ERROR",
  503: (body) => body.status === 503 && body.code === "REQUEST_CANCELLED",
};

const SECONDS = /^[1-9][0-9]{0,8}$/;

/** The answer the caller is due; undefined where this is none of the contract's. */
export function refusalOf(response: Response, body: string, usage?: Readonly<Record<string, string>>): Answer | undefined {
  const { status, headers } = response;
  if (!isJSON(headers.get("Content-Type") ?? "") || !isRefusal(status, body)) return undefined;
  const wait = headers.get("Retry-After") ?? "";
  const retryAfter = SECONDS.test(wait) ? wait : status === 429 || status === 503 ? "1" : undefined;
  return { status, body, headers: { ...usage, "Retry-After": retryAfter } };
}

function isRefusal(status: number, body: string): boolean {
  try {
    const value: unknown = JSON.parse(body);
    return typeof value === "object" && value !== null && REFUSALS[status]?.(value as Record<string, unknown>) === true;
  } catch {
    return false;
  }
}

/** The account's points: used this month, allowed, in overage; undefined where none are told. */
export function usageOf(headers: Headers): Record<string, string> | undefined {
  const current = headers.get("X-Usage-Current") ?? "";
  const limit = headers.get("X-Usage-Limit") ?? "";
  if (!/^\d{1,19}$/.test(current) || !/^(?:\d{1,19}|unlimited)$/.test(limit)) return undefined;
  const overage = headers.get("X-Usage-Overage") === "true" ? { "X-Usage-Overage": "true" } : {};
  return { "X-Usage-Current": current, "X-Usage-Limit": limit, ...overage };
}
