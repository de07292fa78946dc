/**
 * Computes SHA-256 digests of the module's results, to compare hosts. The
 * addresses are in one buffer, each as a 32-bit little-endian word, twice its
 * length plus its flag, followed by its bytes.
 */

import { concat } from "../src/body.ts";
import type { Engine } from "../src/engine.ts";

/** The number of results per digest; small enough to locate a difference. */
const BLOCK = 1000;
const NEWLINE = Uint8Array.of(0x0a);

/** Returns the digest, in hexadecimal, of each block of results, one result per line. */
export async function digests(engine: Engine, addresses: Uint8Array): Promise<string[]> {
  const sums: string[] = [];
  const words = new DataView(addresses.buffer, addresses.byteOffset);
  for (let at = 0; at < addresses.length; ) {
    const lines: Uint8Array[] = [];
    for (let n = 0; n < BLOCK && at < addresses.length; n++) {
      const word = words.getUint32(at, true);
      const end = at + 4 + (word >>> 1);
      lines.push(engine.check(addresses.subarray(at + 4, end), word & 1).json, NEWLINE);
      at = end;
    }
    sums.push(hex(await crypto.subtle.digest("SHA-256", concat(lines))));
  }
  return sums;
}

function hex(bytes: ArrayBuffer): string {
  return Array.from(new Uint8Array(bytes), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
