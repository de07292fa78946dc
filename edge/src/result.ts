/** Writes results: the module's JSON, byte for byte, with mx set. */

import { concat } from "./body.ts";
import type { Facts } from "./instance.ts";

const encoder = new TextEncoder();
const TRUE = encoder.encode("true");
const FALSE_BYTES = 5;
const EMAIL_AT = '{"email":'.length;

/** Returns the chunks of the result, an object of 16 fields. */
export function result({ json, mxAt }: Facts, mx: boolean): Uint8Array[] {
  return mx ? [json.subarray(0, mxAt), TRUE, json.subarray(mxAt + FALSE_BYTES)] : [json];
}

/** Returns the address as a quoted JSON string. */
export function quotedEmail({ json, emailEnd }: Facts): Uint8Array {
  return json.subarray(EMAIL_AT, emailEnd);
}

/** Concatenates chunks; encodes strings as UTF-8. */
export function join(chunks: readonly (string | Uint8Array)[]): Uint8Array<ArrayBuffer> {
  return concat(chunks.map((chunk) => (typeof chunk === "string" ? encoder.encode(chunk) : chunk)));
}
