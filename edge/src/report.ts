/**
 * Reads what the module wrote (wasm/ABI.md): the facts are bits of the report, and most
 * texts are slices of the caller's address, so that few results need a JSON parser.
 */

import type { Facts } from "../package/index.d.ts";

/** Thrown when the module failed; its instance must not be used again. */
export class ModuleFailure extends Error {}

/** Views of the module's memory, and of its input buffer. */
export interface Views {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly words: DataView;
  readonly input: Uint8Array;
}

/** The indexes of the report's 32-bit words. A place has two: its start in the output and length. */
export const WORD = {
  facts: 0,
  more: 1,
  emailEnd: 2,
  mx: 3,
  disposable: 5,
  exchange: 7,
  host: 9,
  offset: 12,
  sentence: 17,
} as const;
export const REPORT_BYTES = 24 * 4;

/** The bits of the boolean facts. */
export const FACT = {
  valid: 1,
  alias: 2,
  ascii: 4,
  role: 8, // it is not null
  gibberish: 16,
  disposable: 32,
  public: 64,
  relay: 128,
  typo: 256,
  classed: 512, // the lists have an entry for the domain, of any class
} as const;

/** The roles by their number in word 1 of the report. */
const ROLES = [
  null,
  "Admin",
  "Support",
  "Sales",
  "Marketing",
  "General",
  "NoReply",
  "Billing",
  "Legal",
  "IT",
  "HR",
] as const;

/** What the JSON of a valid address has before the text of normalized, and at its end. */
const BEFORE_NORMALIZED = ',"valid":true,"normalized":"'.length;
const AFTER_SUGGESTION = '"}'.length;
const QUOTE = 0x22;

const decoder = new TextDecoder();

/**
 * Returns the result for email, whose report is at report and whose JSON is from start to end.
 * Details are in the JSON alone; without them all results have one shape, which is fast to use.
 */
export function readResult(
  { bytes, words }: Views,
  report: number,
  start: number,
  end: number,
  email: string | Uint8Array,
  hasDetails: boolean,
): Facts {
  const parsed = () => parseJSON(decoder.decode(bytes.subarray(start, end))) as Facts;
  if (hasDetails) return parsed();
  const word = (n: number) => words.getUint32(report + 4 * n, true);
  const set = word(WORD.facts);
  const more = word(WORD.more);
  const is = (fact: number) => (set & fact) !== 0;
  const isPlain = is(FACT.ascii) && typeof email === "string";
  const texts =
    (isPlain && plainTexts(email, set, more, bytes, start + word(WORD.emailEnd), end)) || parsed();
  return {
    email: texts.email,
    valid: is(FACT.valid),
    normalized: texts.normalized,
    local_part: texts.local_part,
    alias: is(FACT.alias),
    ascii: is(FACT.ascii),
    role: texts.role,
    gibberish: is(FACT.gibberish),
    gibberish_score: (more & 127) / 100,
    domain: texts.domain,
    mx: word(WORD.host + 1) > 0 ? null : false,
    disposable: is(FACT.disposable),
    public: is(FACT.public),
    relay: is(FACT.relay),
    typo: is(FACT.typo),
    typo_suggestion: texts.typo_suggestion,
  };
}

type Texts = Pick<
  Facts,
  "email" | "normalized" | "local_part" | "role" | "domain" | "typo_suggestion"
>;

/**
 * Returns the texts of an ASCII address that is not valid, or whose normal form is the address
 * in lower case. Such a form has no quotes and no escapes, so the first @ ends the local part.
 * Undefined for others.
 */
function plainTexts(
  email: string,
  set: number,
  more: number,
  bytes: Uint8Array,
  emailEnd: number,
  end: number,
): Texts | undefined {
  const role = ROLES[(more >> 8) & 15];
  if (role === undefined) return undefined; // that of a newer module
  const isValid = (set & FACT.valid) !== 0;
  const normalized = isValid ? email.toLowerCase() : null;
  if (normalized !== null) {
    const at = emailEnd + BEFORE_NORMALIZED;
    if (bytes[at + normalized.length] !== QUOTE) return undefined;
    for (let n = 0; n < normalized.length; n++)
      if (bytes[at + n] !== normalized.charCodeAt(n)) return undefined;
  }
  const split = email.indexOf("@");
  const last = end - AFTER_SUGGESTION;
  const isTypo = (set & FACT.typo) !== 0;
  return {
    email,
    normalized,
    local_part: isValid ? email.slice(0, split) : null,
    role,
    domain: normalized === null ? null : normalized.slice(split + 1),
    typo_suggestion: isTypo
      ? decoder.decode(bytes.subarray(bytes.lastIndexOf(QUOTE, last - 1) + 1, last))
      : null,
  };
}

/** Parses what the module returned. JavaScript's own error would quote it, and so an address. */
export function parseJSON(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new ModuleFailure("the module did not return JSON");
  }
}
