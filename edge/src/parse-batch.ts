/**
 * Parses the batches that the worker answers by itself. All others go to the
 * origin, so the worker needs no error messages for bodies and cannot parse one
 * differently from the origin. In doubt, a batch goes to the origin.
 */

import { isJSON } from "./media-type.ts";

/** The maximum number of distinct addresses in a batch. */
export const MAX_UNIQUE = 64;

// ignoreBOM keeps a byte order mark in the text, where JSON.parse rejects it.
const strict = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Headers that the origin handles: it refuses encodings and stores answers for Idempotency-Key. */
const ORIGIN_HEADERS = ["Content-Encoding", "Idempotency-Key"];

/** An escaped surrogate. It may be a lone one, which encoding/json replaces. */
const SURROGATE = /\\u[dD][89a-fA-F]/;

/**
 * Returns the distinct addresses of a body that is exactly {"emails": [strings]}
 * with 1 to 64 distinct strings; undefined for any other body.
 */
export function parseBatch(headers: Headers, body: Uint8Array): string[] | undefined {
  if (!isJSON(headers.get("Content-Type")) || ORIGIN_HEADERS.some((name) => headers.has(name))) {
    return undefined;
  }
  const emails = emailsOf(parse(body));
  if (!emails?.every((email) => typeof email === "string")) return undefined;
  const distinct = [...new Set(emails)];
  return distinct.length >= 1 && distinct.length <= MAX_UNIQUE ? distinct : undefined;
}

/** Parses JSON; returns undefined where encoding/json, at the origin, may return another value. */
function parse(body: Uint8Array): unknown {
  try {
    const text = strict.decode(body);
    if (SURROGATE.test(text)) return undefined;
    // JSON.parse hides a repeated member: it keeps the last.
    if (text.indexOf('"emails"') !== text.lastIndexOf('"emails"')) return undefined;
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Returns the array of an object whose only member is emails. */
function emailsOf(value: unknown): readonly unknown[] | undefined {
  if (typeof value !== "object" || value === null || Object.keys(value).join() !== "emails") {
    return undefined;
  }
  const { emails } = value as { emails: unknown };
  return Array.isArray(emails) ? emails : undefined;
}
