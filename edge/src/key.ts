/**
 * The form of an API key, so that a mistyped one is refused without a round
 * trip: "ask_", 32 random digits of base 62, and the CRC-32 of those 36 bytes
 * as six digits of base 62, most significant first (origin/ledger/secret.go).
 */

import { type Problem, problem } from "./problem.ts";
import { SAY } from "./problems.ts";

const DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const FORM = /^ask_[0-9A-Za-z]{38}$/;
const CHECKSUM_AT = 36;

/** The caller's key, from X-API-Key, which wins, or Authorization; or the problem with it. */
export function readKey(headers: Headers): string | Problem {
  const name = headers.get("X-API-Key") ? "X-API-Key" : "Authorization";
  const given = headers.get(name) ?? "";
  // Headers joins repeated fields with commas (RFC 9110 section 5.3).
  if (given.includes(",")) return problem("INVALID_API_KEY", SAY.manyKeys(name));
  const key = name === "Authorization" ? bearer(given) : given;
  if (key === "") return problem("INVALID_API_KEY", SAY.noKey);
  return wellFormed(key) ? key : problem("INVALID_API_KEY", SAY.malformedKey);
}

/** The credential of a Bearer scheme, in any case (RFC 9110 section 11.1). */
function bearer(authorization: string): string {
  return /^bearer [ \t]*(.*)$/is.exec(authorization)?.[1] ?? "";
}

export function wellFormed(key: string): boolean {
  return FORM.test(key) && key.slice(CHECKSUM_AT) === checksum(key.slice(0, CHECKSUM_AT));
}

export function checksum(text: string): string {
  let rest = crc32(text);
  let written = "";
  for (let place = 0; place < 6; place++) {
    written = DIGITS.charAt(rest % 62) + written;
    rest = Math.floor(rest / 62);
  }
  return written;
}

/** CRC-32 of IEEE 802.3 over ASCII text, an unsigned number. */
function crc32(text: string): number {
  let crc = 0xffffffff;
  for (let i = 0; i < text.length; i++) {
    crc ^= text.charCodeAt(i);
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
  }
  return ~crc >>> 0;
}
