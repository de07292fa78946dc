/**
 * Recognizes the batches that the worker answers itself. Whatever else a batch
 * may be, the origin judges it: so the worker has no error texts for bodies, and
 * cannot read one in another way than the origin. When in doubt, it is not clean.
 */

import { isJSON } from "./media-type.ts";

/** The most distinct addresses that a batch may hold. */
export const MAX_UNIQUE = 64;

// ignoreBOM keeps a byte order mark in the text, where JSON.parse refuses it.
const strict = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Headers that make the origin answer: it decides on encodings, and stores answers for an Idempotency-Key. */
const NOT_PLAIN = ["Content-Encoding", "Idempotency-Key"];

/** An escape of a surrogate, perhaps of a lone one, which encoding/json replaces. */
const SURROGATE = /\\u[dD][89a-fA-F]/;

/** The distinct addresses of {"emails": [1 to 64 distinct strings]}; undefined for anything else. */
export function cleanBatch(headers: Headers, body: Uint8Array): string[] | undefined {
  if (!isJSON(headers.get("Content-Type")) || NOT_PLAIN.some((name) => headers.has(name)))
    return undefined;
  const emails = emailsOf(parse(body));
  if (!emails?.every((email) => typeof email === "string")) return undefined;
  const distinct = [...new Set(emails)];
  return distinct.length >= 1 && distinct.length <= MAX_UNIQUE ? distinct : undefined;
}

function parse(body: Uint8Array): unknown {
  try {
    const text = strict.decode(body);
    if (SURROGATE.test(text) || text.indexOf('"emails"') !== text.lastIndexOf('"emails"'))
      return undefined;
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The array of an object that has emails and no other member. */
function emailsOf(value: unknown): readonly unknown[] | undefined {
  if (typeof value !== "object" || value === null || Object.keys(value).join() !== "emails")
    return undefined;
  const { emails } = value as { emails: unknown };
  return Array.isArray(emails) ? emails : undefined;
}
