/**
 * Computes SHA-256 digests of the module's results, to compare hosts. The
 * addresses are in one buffer, each as a 32-bit little-endian word, twice its
 * length plus its flag, followed by its bytes.
 */

import { concat } from "../src/body.ts";
import type { Engine } from "../src/engine.ts";
import { FULL_SUGGESTION } from "../src/instance.ts";

/** The number of results per digest; small enough to locate a difference. */
const BLOCK = 1000;
const NEWLINE = Uint8Array.of(0x0a);
const decoder = new TextDecoder();

/** Returns the digest, in hexadecimal, of each block of results, one result per line. */
export async function digests(engine: Engine, addresses: Uint8Array): Promise<string[]> {
  const sums: string[] = [];
  const words = new DataView(addresses.buffer, addresses.byteOffset);
  for (let at = 0; at < addresses.length; ) {
    const lines: Uint8Array[] = [];
    const texts: string[] = [];
    for (let n = 0; n < BLOCK && at < addresses.length; n++) {
      const word = words.getUint32(at, true);
      const end = at + 4 + (word >>> 1);
      const email = addresses.subarray(at + 4, end);
      lines.push(engine.check(email, word & 1).json, NEWLINE);
      texts.push(decoder.decode(email));
      at = end;
    }
    requireSame(engine, texts);
    sums.push(hex(await crypto.subtle.digest("SHA-256", concat(lines))));
  }
  return sums;
}

/** Requires that results as objects are those of their JSON, with the fields in its order. */
function requireSame(engine: Engine, emails: readonly string[]) {
  for (const flags of [0, FULL_SUGGESTION])
    for (const [n, result] of engine.results(emails, flags).entries()) {
      const { json } = engine.check(emails[n] as string, flags);
      if (JSON.stringify(result) !== decoder.decode(json))
        throw new Error(`the object for ${JSON.stringify(emails[n])} differs from its JSON`);
    }
}

function hex(bytes: ArrayBuffer): string {
  return Array.from(new Uint8Array(bytes), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
