/**
 * Counts of what the checks found, for the account's usage history at the
 * origin. The origin gets these numbers because it does not get the addresses.
 */

import type { Finding } from "./instance.ts";

/** The number of addresses of each kind; a count of 0 is left out. */
export type Tally = Partial<Record<Kind, number>>;

type Kind = "valid" | "invalid" | "role" | "gibberish" | (typeof PROVIDER)[number];

/** The fields that follow mx, each true or false, up to typo_suggestion. */
const PROVIDER = ["disposable", "public", "relay", "typo"] as const;

const encoder = new TextEncoder();
const ROLE = encoder.encode(',"role":');
const GIBBERISH = encoder.encode(',"gibberish":');
/** The length of what is between two values: `,"typo":` */
const BETWEEN = PROVIDER.map((kind) => ({ kind, length: `,"${kind}":`.length }));
const FALSE_LENGTH = 5,
  TRUE_LENGTH = 4;
const COMMA = 0x2c,
  QUOTE = 0x22,
  LETTER_T = 0x74;

/**
 * Adds one address to the tally. It reads the module's JSON by position
 * (wasm/ABI.md: 16 fields in fixed order, no white space), which costs a quarter
 * of JSON.parse.
 */
export function count(tally: Tally, { json, emailEnd, mxAt, refusal }: Finding): void {
  if (refusal !== null) {
    add(tally, "invalid");
    return; // no other kind applies
  }
  add(tally, "valid");
  const role = valueOf(json, ROLE, emailEnd);
  if (json[role] === QUOTE) add(tally, "role"); // else null
  if (json[valueOf(json, GIBBERISH, role)] === LETTER_T) add(tally, "gibberish");
  let at = mxAt + FALSE_LENGTH;
  for (const { kind, length } of BETWEEN) {
    at += length;
    const isTrue = json[at] === LETTER_T;
    if (isTrue) add(tally, kind);
    at += isTrue ? TRUE_LENGTH : FALSE_LENGTH;
  }
}

function add(tally: Tally, kind: Kind): void {
  tally[kind] = (tally[kind] ?? 0) + 1;
}

/**
 * The position of a field's value. No string before it can contain the field's
 * name, since JSON escapes the quotes in a string.
 */
function valueOf(json: Uint8Array, name: Uint8Array, from: number): number {
  for (let at = json.indexOf(COMMA, from); at >= 0; at = json.indexOf(COMMA, at + 1)) {
    let same = 1;
    while (same < name.length && json[at + same] === name[same]) same++;
    if (same === name.length) return at + same;
  }
  return json.length;
}
