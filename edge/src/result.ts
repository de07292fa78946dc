/** Writes results: the module's JSON, byte for byte, with what the lookup decides. */

import { concat } from "./body.ts";
import type { Facts, Place } from "./instance.ts";
import type { Lookup } from "./plan.ts";

const encoder = new TextEncoder();
const TRUE = encoder.encode("true");
const FALSE = encoder.encode("false");
const EMAIL_AT = '{"email":'.length;

/** Returns the result. It is written over the JSON of the facts if it fits. */
export function result(facts: Facts, lookup: Lookup): Uint8Array<ArrayBuffer> {
  let { json } = facts; // the last value first, since one of another length moves what follows
  if (facts.exchange !== undefined && lookup.exchange !== undefined) {
    json = write(json, facts.exchange, encoder.encode(lookup.exchange));
  }
  if (lookup.disposable === true) json = write(json, facts.disposable, TRUE);
  return write(json, facts.mx, lookup.mx === true ? TRUE : FALSE);
}

/** Returns the JSON with a value in a place. */
function write(
  json: Uint8Array<ArrayBuffer>,
  { at, length }: Place,
  value: Uint8Array,
): Uint8Array<ArrayBuffer> {
  if (value.length !== length) {
    return concat([json.subarray(0, at), value, json.subarray(at + length)]);
  }
  json.set(value, at);
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

/** The value of refusal in the details. A string in it has its quotation marks escaped. */
const REFUSAL = /,"details":\{"refusal":(\{.*?\}),"canonical":/s;

/** Returns why the address of a result with details is not valid, as the module's JSON. */
export function quotedRefusal({ json, emailEnd }: Facts): string | undefined {
  return REFUSAL.exec(new TextDecoder().decode(json.subarray(emailEnd)))?.[1];
}
