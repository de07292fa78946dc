/** Writes results: the module's JSON, byte for byte, with mx set. */

import { concat } from "./body.ts";
import type { Facts } from "./instance.ts";

const encoder = new TextEncoder();
const TRUE = encoder.encode("true");
const FALSE_BYTES = 5;
const EMAIL_AT = '{"email":'.length;

/** Returns the result, an object of 16 fields. It is written over the JSON of the facts. */
export function result({ json, mxAt }: Facts, mx: boolean): Uint8Array<ArrayBuffer> {
  if (!mx) return json;
  json.set(TRUE, mxAt);
  json.copyWithin(mxAt + TRUE.length, mxAt + FALSE_BYTES);
  return json.subarray(0, json.length - FALSE_BYTES + TRUE.length);
}

/** Returns the address as a quoted JSON string. */
export function quotedEmail({ json, emailEnd }: Facts): Uint8Array {
  return json.subarray(EMAIL_AT, emailEnd);
}

/** Concatenates chunks; encodes strings as UTF-8. */
export function join(chunks: readonly (string | Uint8Array)[]): Uint8Array<ArrayBuffer> {
  return concat(chunks.map((chunk) => (typeof chunk === "string" ? encoder.encode(chunk) : chunk)));
}
