/**
 * Parses the batches that the worker handles by itself. All others go to the
 * origin, so the worker needs no error messages for bodies and cannot parse one
 * differently from the origin. In doubt, a batch goes to the origin.
 */

import { isJSON } from "./media-type.ts";
import { isPolicyName } from "./policies.ts";

/** The maximum number of distinct addresses in a batch. */
export const MAX_UNIQUE = 64;

// ignoreBOM keeps a byte order mark in the text, where JSON.parse rejects it.
const strict = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Headers that the origin handles: it refuses encodings and stores responses for Idempotency-Key. */
const ORIGIN_HEADERS = ["Content-Encoding", "Idempotency-Key"];

/** An escaped surrogate. It may be a lone one, which the origin refuses. */
const SURROGATE = /\\u[dD][89a-fA-F]/;

/** The content of a batch. */
export interface BatchInput {
  /** 1 to 64 distinct addresses. */
  readonly emails: readonly string[];
  /** Whether results have the member details. */
  readonly details: boolean;
  /** The name of the policy that it asks for. */
  readonly policy?: string | undefined;
}

/**
 * Returns the content of a body that is exactly {"emails": [strings]}, with 1 to 64 distinct
 * strings, or has "details": true or false and "policy": "name" besides; undefined for any
 * other body.
 */
export function parseBatch(headers: Headers, body: Uint8Array): BatchInput | undefined {
  if (!isJSON(headers.get("Content-Type")) || ORIGIN_HEADERS.some((name) => headers.has(name))) {
    return undefined;
  }
  const { emails, details = false, policy, ...others } = membersOf(parse(body));
  if (!isStrings(emails) || typeof details !== "boolean" || Object.keys(others).length > 0) {
    return undefined;
  }
  if (policy !== undefined && !isPolicyName(policy)) return undefined;
  const distinct = [...new Set(emails)];
  if (distinct.length < 1 || distinct.length > MAX_UNIQUE) return undefined;
  return { emails: distinct, details, policy };
}

/** Parses JSON; returns undefined where the origin may return another value. */
function parse(body: Uint8Array): unknown {
  try {
    const text = strict.decode(body);
    if (SURROGATE.test(text)) return undefined;
    // JSON.parse hides a repeated member: it keeps the last.
    if (['"emails"', '"details"', '"policy"'].some((name) => isRepeated(text, name)))
      return undefined;
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isRepeated(text: string, name: string): boolean {
  return text.indexOf(name) !== text.lastIndexOf(name);
}

/** Returns the members of an object; none of any other value. */
function membersOf(value: unknown): Record<string, unknown> {
  const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
  return isObject ? (value as Record<string, unknown>) : {};
}

function isStrings(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((email) => typeof email === "string");
}
