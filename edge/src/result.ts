/** Writes results: the module's JSON, byte for byte, with mx set. */

import { concat } from "./body.ts";
import type { Facts } from "./instance.ts";

const encoder = new TextEncoder();
const TRUE = encoder.encode("true");
const FALSE = encoder.encode("false");
const EMAIL_AT = '{"email":'.length;

/** Returns the result, an object of 16 fields. It is written over the JSON of the facts if it fits. */
export function result({ json, mx: place }: Facts, mx: boolean): Uint8Array<ArrayBuffer> {
  const value = mx ? TRUE : FALSE;
  if (value.length !== place.length) {
    return concat([json.subarray(0, place.at), value, json.subarray(place.at + place.length)]);
  }
  json.set(value, place.at);
  return json;
}

/** Returns the address as a quoted JSON string. */
export function quotedEmail({ json, emailEnd }: Facts): Uint8Array {
  return json.subarray(EMAIL_AT, emailEnd);
}

/** Concatenates chunks; encodes strings as UTF-8. */
export function join(chunks: readonly (string | Uint8Array)[]): Uint8Array<ArrayBuffer> {
  return concat(chunks.map((chunk) => (typeof chunk === "string" ? encoder.encode(chunk) : chunk)));
}
