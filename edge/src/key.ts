/**
 * Checks the form of an API key, so that a mistyped key costs no round trip. A
 * key is "ask_", 32 random digits in base 62, and the CRC-32 of these 36 bytes
 * as six digits in base 62, most significant first (origin/ledger/credential.go).
 */

import { SENTENCES } from "./problems.ts";
import type { Problem } from "./response.ts";

const DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
/** Where a key's checksum begins, which says nothing of the random digits before it. */
export const CHECKSUM_AT = 36;

/** Returns the client's key, or the problem with it. X-API-Key wins over Authorization. */
export function readKey(headers: Headers): string | Problem {
  const own = headers.get("X-API-Key");
  const name = own ? "X-API-Key" : "Authorization";
  const value = own || (headers.get(name) ?? "");
  const invalid = (message: string): Problem => ({ code: "INVALID_API_KEY", message });
  // Headers joins repeated fields with commas (RFC 9110 section 5.3).
  if (value.includes(",")) return invalid(SENTENCES.manyKeys(name));
  // The scheme has any case (RFC 9110 section 11.1).
  const key = own ? value : (/^bearer [ \t]*(.*)$/is.exec(value)?.[1] ?? "");
  if (key === "") return invalid(SENTENCES.noKey);
  return isWellFormed(key) ? key : invalid(SENTENCES.malformedKey);
}

export function isWellFormed(key: string): boolean {
  return (
    /^ask_[0-9A-Za-z]{38}$/.test(key)
    && key.slice(CHECKSUM_AT) === checksum(key.slice(0, CHECKSUM_AT))
  );
}

/** Returns the CRC-32 of ASCII text as six digits in base 62. */
export function checksum(text: string): string {
  let rest = crc32(text);
  let digits = "";
  while (digits.length < 6) {
    digits = DIGITS.charAt(rest % 62) + digits;
    rest = Math.floor(rest / 62);
  }
  return digits;
}

const CRC_OF_NIBBLE = Int32Array.from({ length: 16 }, (_, nibble) => {
  let crc = nibble;
  for (let bit = 0; bit < 4; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
  return crc;
});

/** Returns the CRC-32 of IEEE 802.3 over ASCII text, as an unsigned number. */
function crc32(text: string): number {
  let crc = -1;
  for (let i = 0; i < text.length; i++) {
    crc ^= text.charCodeAt(i);
    for (let half = 0; half < 2; half++) crc = (crc >>> 4) ^ (CRC_OF_NIBBLE[crc & 15] ?? 0);
  }
  return ~crc >>> 0;
}
