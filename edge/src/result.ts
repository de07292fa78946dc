/** The module's JSON with mx set: the bytes go out as they came. */

import { concat } from "./body.ts";
import type { Finding } from "./instance.ts";

const encoder = new TextEncoder();
const TRUE = encoder.encode("true");
const FALSE_BYTES = 5;
const EMAIL_AT = '{"email":'.length;

/** The object of 16 fields in pieces. */
export function result({ json, mxAt }: Finding, mx: boolean): Uint8Array[] {
  return mx ? [json.subarray(0, mxAt), TRUE, json.subarray(mxAt + FALSE_BYTES)] : [json];
}

/** The address as a quoted JSON string. */
export function quotedEmail({ json, emailEnd }: Finding): Uint8Array {
  return json.subarray(EMAIL_AT, emailEnd);
}

export function join(pieces: readonly (string | Uint8Array)[]): Uint8Array<ArrayBuffer> {
  const bytes = pieces.map((piece) => (typeof piece === "string" ? encoder.encode(piece) : piece));
  return concat(
    bytes,
    bytes.reduce((size, piece) => size + piece.length, 0),
  );
}
